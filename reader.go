package stardust

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// Open opens a stream that reads a published payload; see [PluginStream].
//
// It returns StatusInvalidArgument when the digest is not 64 hexadecimal
// digits, StatusNotFound when no payload with the digest is published, and
// StatusEvaluationFailed when the stored manifest is damaged.
func (v Objects) Open(digest string) (*PluginStream, error) {
	const op = "objects.open"
	if err := v.enabled(); err != nil {
		return nil, withOp(op, err)
	}
	d, err := parseDigest(digest)
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.OpenDigest(d)
}

// OpenDigest is Open for a digest that is a value already.
func (v Objects) OpenDigest(digest Digest) (*PluginStream, error) {
	const op = "objects.open"
	var r *payload.Reader
	err := v.read(func(view *catalog.View) error {
		p, err := tree.Payload(view, "digest", digest)
		if err != nil {
			return err
		}
		r, err = v.db.payloads.NewReader(view, p)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.newStream(op, &PluginStream{reader: r})
}

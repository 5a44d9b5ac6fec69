package stardust

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/payload"
)

// Upload opens a stream that writes one payload; see [PluginStream]. It holds a
// working buffer of 4 MiB from the memory budget until it finishes or closes,
// and more while there is room, to work ahead.
//
// It returns StatusOutOfMemory when the buffer does not fit, and StatusConflict
// while the database holds writes.
func (v Objects) Upload() (*PluginStream, error) {
	const op = "objects.upload"
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	if err := v.context().Err(); err != nil {
		return nil, withOp(op, err)
	}
	u, err := v.db.payloads.NewUpload()
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.newStream(op, &PluginStream{upload: u})
}

// Published is the result of a finished upload.
type Published struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // in bytes
	// Deduplicated says that an equal payload was published already.
	Deduplicated bool `json:"deduplicated"`
}

func (p Published) document() *Document {
	return newDocument(dust.NewObject(
		dust.Member{Name: "digest", Value: documentDigest(p.Digest)},
		dust.Member{Name: "size", Value: dust.NewInt(p.Size)},
		dust.Member{Name: "deduplicated", Value: dust.NewBool(p.Deduplicated)}))
}

// publish makes a draft's payload readable, atomically and durably.
func (db *DB) publish(ctx context.Context, d *payload.Draft) error {
	_, err := db.commit(ctx, commit.Write{Chunks: true, Plan: func(p *commit.Plan) error { return d.Publish(p.Tx()) }})
	settle(d, err)
	return err
}

// settle ends a draft whose commit returned err. After one that failed, rather
// than was refused, whether it took place shows only at the next open.
func settle(d *payload.Draft, err error) {
	switch {
	case err == nil:
		d.Settle()
	case commit.Refused(err), errors.Is(err, payload.ErrGone):
		d.Abandon()
	default:
		d.Doubt()
		d.Abandon()
	}
}

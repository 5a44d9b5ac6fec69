package stardust

import (
	"context"
	"errors"
	"io"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/payload"
)

// Upload is one payload being written. Publish it with Finish, or abandon it with
// Close. Calls on one upload are serialized; separate uploads run at the same
// time. After Close, and after the database closes, every call but Close returns
// StatusClosed.
type Upload struct{ stream *PluginStream }

// The interfaces that an upload is made to fit.
var (
	_ io.WriteCloser = (*Upload)(nil)
	_ io.ReaderFrom  = (*Upload)(nil)
)

// Upload begins the upload of one payload. Until it finishes or closes it has a
// buffer from the memory budget, which grows with the payload from 16 KiB to 4
// MiB. A large upload works ahead in up to three more while nobody else needs
// the memory.
//
// It returns StatusOutOfMemory when the buffer does not fit, and StatusConflict
// while the database holds writes.
func (v Tree) Upload() (*Upload, error) {
	stream, err := v.upload()
	if err != nil {
		return nil, err
	}
	return &Upload{stream}, nil
}

func (v Tree) upload() (*PluginStream, error) {
	const op = "objects.upload"
	if err := v.writable(); err != nil {
		return nil, withOp(op, err)
	}
	if err := v.context().Err(); err != nil {
		return nil, withOp(op, err)
	}
	u, err := v.db.payloads.NewUpload(v.context())
	if err != nil {
		return nil, withOp(op, err)
	}
	return v.newStream(op, &PluginStream{upload: u})
}

// plugin is the stream beneath, also of a nil upload.
func (u *Upload) plugin() *PluginStream {
	if u == nil {
		return nil
	}
	return u.stream
}

// Write is [PluginStream.Write].
func (u *Upload) Write(p []byte) (n int, err error) { return u.plugin().Write(p) }

// ReadFrom is [PluginStream.ReadFrom].
func (u *Upload) ReadFrom(r io.Reader) (n int64, err error) { return u.plugin().ReadFrom(r) }

// Finish publishes the payload atomically; see [PluginStream.Finish].
func (u *Upload) Finish() (Published, error) { return u.plugin().finish() }

// Size returns how many bytes were written so far.
func (u *Upload) Size() int64 { return u.plugin().Size() }

// Close abandons the upload unless it finished: nothing is published and its
// space comes back. It may be called again, and returns nil.
func (u *Upload) Close() error { return u.plugin().Close() }

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

// publish makes a draft's payload readable, atomically and durably. After an error
// the draft may be published again.
func (db *DB) publish(ctx context.Context, d *payload.Draft) error {
	_, err := db.commit(ctx, commit.Write{Chunks: true, Plan: func(p *commit.Plan) error { return d.Publish(p.Tx()) }})
	if err != nil && !notTaken(err) {
		d.Doubt()
	}
	return err
}

// notTaken reports whether a commit that failed certainly did not happen.
// Otherwise only the next open tells.
func notTaken(err error) bool { return commit.Refused(err) || errors.Is(err, payload.ErrGone) }

// settle ends a draft whose commit returned err.
func settle(d *payload.Draft, err error) {
	if err == nil {
		d.Settle()
		return
	}
	if !notTaken(err) {
		d.Doubt()
	}
	d.Abandon()
}

package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
)

// Tree is the files and directories of one database, or of a [Snapshot] of it,
// and the payloads that files name, in Go values. It has the operations of the
// objects spec under the spec's names; [Objects] has the same ones in documents.
// It is a small value to copy; all methods may be called concurrently.
//
// Entity 0 is the root directory, which has no record. An expected revision,
// taken from the record on which a program bases a write, refuses the write
// when the node has changed since; zero skips the check.
//
// Every operation returns an error of StatusUnavailable when the database does
// not enable the objects plugin, of StatusClosed when it is closed, of
// StatusEvaluationFailed when it comes across stored metadata that is damaged,
// of StatusIO when the operating system fails it, and of StatusCanceled when
// the context of WithContext ends first. Writes return StatusConflict while the
// database holds writes, and StatusUnavailable on a read-only database or a
// snapshot. These come before any check of the arguments. Each method names the
// errors that it returns besides.
type Tree struct {
	db  *DB
	at  int64
	ctx context.Context //nolint:containedctx // see WithContext
}

// WithContext returns the same operations bound to a context: they end with
// StatusCanceled when it ends, and streams opened through it stop reading and
// writing. It suits one request of a server; do not keep the result longer.
func (v Tree) WithContext(ctx context.Context) Tree {
	v.ctx = ctx
	return v
}

func (v Tree) context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// enabled checks that the database is open and has the objects plugin.
func (v Tree) enabled() error {
	switch {
	case v.db == nil || v.db.closed.Load():
		return commit.ErrClosed
	case v.db.options.Plugins.Objects == nil:
		return &Error{Status: StatusUnavailable, Message: "the database does not enable the objects plugin; open it with Options.Plugins.Objects set, or as a document plugins {objects {}}"}
	}
	return nil
}

// writable checks that a write can be made through v.
func (v Tree) writable() error {
	if err := v.enabled(); err != nil {
		return err
	}
	if v.at != catalog.Live {
		return &Error{Status: StatusUnavailable, Code: CodeReadOnly, Message: "a snapshot shows the past and cannot be written"}
	}
	return v.db.writable()
}

// readOne runs a single query, which is a snapshot in itself. It runs fn once,
// or not at all.
func (v Tree) readOne(fn func(*catalog.View) error) error {
	if err := v.enabled(); err != nil {
		return err
	}
	return v.db.view(v.context(), v.at, false, fn)
}

// read runs queries that all see one snapshot. It runs fn once, or not at all.
func (v Tree) read(fn func(*catalog.View) error) error {
	if err := v.enabled(); err != nil {
		return err
	}
	return v.db.view(v.context(), v.at, true, fn)
}

// commit queues a write and waits for it.
func (v Tree) commit(plan func(*commit.Plan) error) (int64, error) {
	return v.db.commit(v.context(), commit.Write{Plan: plan})
}

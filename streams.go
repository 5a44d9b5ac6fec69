package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/commit"
)

// newStream gives a stream its context, which also ends with the database, and
// registers it, so that Close can end it. A database that closed meanwhile closes
// the stream at once.
func (v Tree) newStream(op string, s *PluginStream) (*PluginStream, error) {
	db := v.db
	s.db = db
	s.ctx, s.cancel = db.ctx, func() {}
	if ctx := v.context(); ctx.Done() != nil {
		joined, cancel := context.WithCancelCause(ctx)
		stop := context.AfterFunc(db.ctx, func() { cancel(context.Cause(db.ctx)) })
		s.ctx, s.cancel = joined, func() { stop(); cancel(nil) }
	}
	db.mu.Lock()
	if !db.closed.Load() {
		db.streams[s] = struct{}{}
		db.mu.Unlock()
		return s, nil
	}
	db.mu.Unlock()
	s.shut()
	return nil, withOp(op, commit.ErrClosed)
}

func (db *DB) forget(s *PluginStream) {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.streams, s)
}

// closeStreams ends the streams that were left open. No call is under way any
// more, and none can begin.
func (db *DB) closeStreams() {
	db.mu.Lock()
	streams := db.streams
	db.streams = nil
	db.mu.Unlock()
	for s := range streams {
		s.shut()
	}
}

package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/payload"
)

// newStream gives a stream its context, which also ends with the database, and
// registers it, so that Close can end it. A database that closed meanwhile closes
// the stream at once.
func (v Tree) newStream(op string, s *PluginStream) (*PluginStream, error) {
	db := v.db
	s.db, s.request, s.turn = db, v.context(), newTurn()
	ctx, cancel := context.WithCancelCause(s.request)
	stop := context.AfterFunc(db.ctx, func() { cancel(context.Cause(db.ctx)) })
	s.ctx = ctx
	s.cancel = func() {
		stop()
		cancel(payload.ErrClosed)
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
// more, except those that wait for their caller's reader or writer, and none
// can begin.
func (db *DB) closeStreams() {
	db.mu.Lock()
	streams := db.streams
	db.streams = nil
	db.mu.Unlock()
	for s := range streams {
		s.shut()
	}
}

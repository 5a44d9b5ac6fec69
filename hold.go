package stardust

import "context"

// HoldWrites makes every write return StatusConflict with CodeWritesHeld until
// release is called, so that the file and its log can be copied by other means.
// It returns once the writes before it are durable. Holds add up; calling
// release again does nothing. Open uploads may go on writing, but not finish.
//
// It returns StatusUnavailable on a read-only database, StatusCanceled when ctx
// ends first, and StatusClosed. A hold that is never released ends with the
// database.
func (db *DB) HoldWrites(ctx context.Context) (release func(), err error) {
	const op = "hold_writes"
	if err := db.enter(); err != nil {
		return nil, withOp(op, err)
	}
	defer db.calls.Done()
	if db.queue == nil {
		return nil, withOp(op, db.writable())
	}
	release, err = db.queue.Hold(ctx)
	return release, withOp(op, err)
}

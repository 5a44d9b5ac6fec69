package stardust

import "context"

// HoldWrites makes every write return StatusConflict with CodeWritesHeld until
// release is called, so that a copy of the file and its log can be made by other
// means. It returns when the writes before it are durable. Holds add up;
// release may be called more than once. Uploads that are open may go on
// writing, but not finish.
//
// It returns StatusUnavailable on a read-only database, StatusCanceled when ctx
// ends first, and StatusClosed. A hold that is not released ends with the
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

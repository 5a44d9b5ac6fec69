package bucketdb

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/replica"
)

// checkRevision refuses to stop at a revision that does not exist or that the
// target is beyond. Zero means none.
func checkRevision(op string, at, latest, target int64, from, to string) error {
	switch {
	case at < 0:
		return &stardust.Error{Status: stardust.StatusInvalidArgument, Op: op, Message: fmt.Sprintf("revision %d is negative", at)}
	case at > latest:
		return &stardust.Error{
			Status: stardust.StatusNotFound, Op: op,
			Message: fmt.Sprintf("there is no revision %d; the latest in %s is %d", at, from, latest),
		}
	case at != 0 && at < target:
		return &stardust.Error{
			Status: stardust.StatusConflict, Op: op,
			Message: fmt.Sprintf("%s is at revision %d already; bring %d to a new place", to, target, at),
		}
	}
	return nil
}

// goalAt returns the position up to which rows belong to a revision: its last
// transaction and the content named until then.
func goalAt(ctx context.Context, db database, at int64, target replica.Position) (replica.Position, error) {
	goal := target
	for {
		records, err := db.Records(ctx, goal.Transaction, at, batchBytes)
		if err != nil || len(records) == 0 {
			return goal, err
		}
		end, err := db.Extent(ctx, records)
		if err != nil {
			return goal, err
		}
		goal = replica.Position{Transaction: end.Transaction, Chunk: max(goal.Chunk, end.Chunk), Payload: max(goal.Payload, end.Payload)}
	}
}

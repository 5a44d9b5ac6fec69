package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/replica"
)

// Replica is the database as the rows of its tables, for the packages of this
// module that carry databases to other places, such as bucketdb.
func (db *DB) Replica() *replica.DB {
	const op = "replica"
	return replica.New(replica.Parts{
		Catalog: db.catalog, Heap: db.file.heap, Payloads: db.payloads, Queue: db.queue,
		Begin: func(ctx context.Context) (context.Context, func(error) error, error) {
			inner, end, err := db.task(ctx)
			if err != nil {
				return nil, nil, withOp(op, err)
			}
			return inner, func(err error) error { return withOp(op, end(err)) }, nil
		},
		ReadOnly: &Error{Status: StatusUnavailable, Code: CodeReadOnly, Op: op, Message: "the database is open read-only"},
	})
}

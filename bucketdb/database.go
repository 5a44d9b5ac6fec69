package bucketdb

import (
	"context"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

// database is what is pushed and pulled: the rows of an open file or, in
// simulations, rows in memory. The methods are those of [replica.DB].
type database interface {
	Position(ctx context.Context) (replica.Position, error)
	Origin(ctx context.Context) (o replica.Origin, found bool, err error)
	SetOrigin(ctx context.Context, o replica.Origin) error
	At(ctx context.Context, at replica.Position) (record []byte, chunk, payload digest.Digest, err error)
	Chunks(ctx context.Context, after, last int64, limit int) ([]replica.Chunk, error)
	Payloads(ctx context.Context, after, last int64, limit int) ([]replica.Payload, error)
	Records(ctx context.Context, after, last int64, limit int) ([]replica.Record, error)
	Extent(ctx context.Context, records []replica.Record) (replica.Position, error)
	CheckTables(ctx context.Context, problem func(error)) error

	// read calls use with a chunk's verified bytes, which are valid within the call.
	read(ctx context.Context, c replica.Chunk, use func(data []byte) error) error
	draft() draft
}

// draft is rows on their way into a database, like [replica.Draft].
type draft interface {
	Add(ctx context.Context, c replica.Chunk, data []byte) error
	Apply(ctx context.Context, after, to replica.Position, rows *replica.Rows) error
	Close()
}

// fileRows is the database of an open file.
type fileRows struct{ *replica.DB }

func rowsOfFile(db *stardust.DB) fileRows { return fileRows{db.Replica()} }

func (f fileRows) draft() draft { return f.NewDraft() }

func (f fileRows) read(ctx context.Context, c replica.Chunk, use func(data []byte) error) error {
	buffer, err := f.Buffer(ctx, c.Size)
	if err != nil {
		return err
	}
	defer buffer.Release()
	if err := f.ReadChunk(ctx, c.Row, buffer.Data); err != nil {
		return err
	}
	return use(buffer.Data)
}

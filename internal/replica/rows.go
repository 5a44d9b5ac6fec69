package replica

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

// Position says how far a database has come.
type Position = catalog.Position

// Origin says of which database elsewhere another is a replica.
type Origin = catalog.Origin

// Entry is one chunk of a payload.
type Entry = catalog.Entry

// Chunk is a chunk's row. The zero value stands for none.
type Chunk struct {
	Row    int64
	Digest digest.Digest
	Size   int64 // in bytes
}

// Payload is a payload's row, with the whole list of its chunks.
type Payload struct {
	Row     int64
	Digest  digest.Digest
	Size    int64 // in bytes
	Entries []Entry
}

// Record is an encoded transaction.
type Record struct {
	ID    int64
	Bytes []byte
}

// Rows are some rows of each kind, ascending.
type Rows struct {
	Chunks   []Chunk
	Payloads []Payload
	Records  []Record
}

// Empty reports whether there are none.
func (r *Rows) Empty() bool { return len(r.Chunks)+len(r.Payloads)+len(r.Records) == 0 }

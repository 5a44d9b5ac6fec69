package stardust

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/heap"
)

// draftBlock is how many different chunks of one upload share a reservation of
// draftBlockBytes from the memory budget: what a draft keeps of each.
const (
	draftBlock      = 4096
	draftBlockBytes = draftBlock * 192
)

// draft is a payload whose chunks are stored but that is not published yet.
type draft struct {
	db        *DB
	digest    Digest
	size      int64
	published Published
	done      bool // published or abandoned

	mu       sync.Mutex
	order    []uint32 // the payload's chunks as positions in chunks
	chunks   []draftChunk
	known    map[Digest]uint32 // position in chunks
	reserved int64
}

// draftChunk is a chunk of a draft. It has a row already, or a new record in
// the heap, or both when the stored one is damaged and the record heals it.
type draftChunk struct {
	digest   Digest
	row      int64
	location heap.Location
	fresh    bool // location is ours
	size     int64
}

func newDraft(db *DB) *draft {
	return &draft{db: db, known: make(map[Digest]uint32)}
}

// whole stores a payload that is all in memory.
func (d *draft) whole(data []byte) error {
	d.size = int64(len(data))
	d.digest = sha256.Sum256(data)
	for rest := data; len(rest) > 0; {
		n := chunk.Cut(rest, true)
		digest := d.digest // of the only chunk, which needs no second hash
		if n < len(data) {
			digest = sha256.Sum256(rest[:n])
		}
		if err := d.store(d.reserve(), digest, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// reserve returns the next place in the payload's order.
func (d *draft) reserve() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = append(d.order, 0)
	return len(d.order) - 1
}

// store makes sure that a chunk is in the file and puts it in its place.
func (d *draft) store(seq int, digest Digest, data []byte) error {
	i, first, err := d.claim(seq, digest)
	if err != nil || !first {
		return err
	}
	c := draftChunk{digest: digest, size: int64(len(data))}
	if c.row, err = d.db.storedChunk(digest, data); err != nil {
		return err
	}
	if c.row <= 0 {
		c.row = -c.row
		if c.location, err = d.db.file.heap.Append(digest, data); err != nil {
			return asError(err)
		}
		c.fresh = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.chunks[i] = c
	return nil
}

// claim puts a chunk in its place and reports whether it is new to the draft.
func (d *draft) claim(seq int, digest Digest) (i uint32, first bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, known := d.known[digest]
	if !known {
		if len(d.chunks)%draftBlock == 0 && len(d.chunks) > 0 {
			if !d.db.budget.reserve(draftBlockBytes) {
				return 0, false, d.db.budget.outOfMemory(draftBlockBytes, "the upload's list of chunks")
			}
			d.reserved += draftBlockBytes
		}
		i = uint32(len(d.chunks))
		d.chunks = append(d.chunks, draftChunk{})
		d.known[digest] = i
	}
	d.order[seq] = i
	return i, !known, nil
}

// abandon frees the space of a draft that was not published.
func (d *draft) abandon() {
	if d.done {
		return
	}
	d.finish()
	for _, c := range d.chunks {
		if c.fresh {
			d.db.file.heap.Free(c.location)
		}
	}
}

// finish gives back the draft's memory.
func (d *draft) finish() {
	d.done = true
	d.db.budget.release(d.reserved)
	d.reserved = 0
}

// storedChunk returns the row of a chunk that is stored already: positive when
// its bytes are right, negative when they are damaged and want healing, zero
// when it is not stored. The bytes are compared, which costs less than a hash.
func (db *DB) storedChunk(digest Digest, data []byte) (row int64, err error) {
	var c catalog.Chunk
	found := false
	err = db.catalog.ReadOne(db.ctx, catalog.Live, func(v *catalog.View) (err error) {
		c, found, err = v.ChunkByDigest(digest)
		return err
	})
	if err != nil || !found {
		return 0, db.closing(context.Background(), err)
	}
	same, err := db.file.heap.Equal(heap.Location{Offset: c.Offset, Size: c.Size}, data)
	if err != nil && !isDamage(err) {
		return 0, asError(err)
	}
	if !same {
		db.options.Logger.Warn("a stored chunk is damaged; the upload brings it anew",
			"chunk", digest.String(), "offset", c.Offset)
		return -c.ID, nil
	}
	return c.ID, nil
}

package payload

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
)

// draftBlock is how many different chunks of one upload share a reservation of
// draftBlockBytes from the memory budget: what a draft keeps of each.
const (
	draftBlock      = 4096
	draftBlockBytes = draftBlock * 192
)

// Published is a payload that a commit made readable.
type Published struct {
	Digest digest.Digest
	Size   int64 // in bytes
	// Deduplicated says that an equal payload was published already.
	Deduplicated bool
}

// Draft is a payload whose chunks are stored but that is not published yet. Its
// life: an upload begins it, its chunks are stored, a commit publishes it, and
// Settle or Abandon ends it. Its methods belong to one goroutine at a time.
type Draft struct {
	store     *Store
	published Published
	surplus   []heap.Location // what the last Publish did not need
	doubt     bool            // whether it is published shows at the next open only
	ended     bool

	mu       sync.Mutex
	order    []uint32 // the payload's chunks as positions in chunks
	chunks   []draftChunk
	known    map[digest.Digest]uint32 // position in chunks
	reserved int64
}

// draftChunk is a chunk of a draft. It is stored already, or has a new record in
// the heap, or both when the stored one is damaged and the record heals it.
type draftChunk struct {
	first    int // the place that brought the chunk, and stores it
	digest   digest.Digest
	stored   stored
	location heap.Location // of the new record, unless the stored one is intact
	size     int64
}

// fresh reports whether the chunk has a record of the draft's own.
func (c *draftChunk) fresh() bool { return c.size > 0 && c.stored.state != intact }

func newDraft(s *Store) *Draft {
	return &Draft{store: s, known: make(map[digest.Digest]uint32)}
}

// Digest returns the payload's digest.
func (d *Draft) Digest() digest.Digest { return d.published.Digest }

// Size returns the payload's size in bytes.
func (d *Draft) Size() int64 { return d.published.Size }

// whole stores a payload that is all in memory.
func (d *Draft) whole(ctx context.Context, data []byte) error {
	d.published.Size = int64(len(data))
	d.published.Digest = sha256.Sum256(data)
	for rest := data; len(rest) > 0; {
		n := chunk.Cut(rest, true)
		name := d.published.Digest // of the only chunk, which needs no second hash
		if n < len(data) {
			name = sha256.Sum256(rest[:n])
		}
		if err := d.add(ctx, d.reserve(), name, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// reserve returns the next place in the payload's order.
func (d *Draft) reserve() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = append(d.order, 0)
	return len(d.order) - 1
}

// add makes sure that a chunk is in the file and puts it in its place.
func (d *Draft) add(ctx context.Context, seq int, name digest.Digest, data []byte) error {
	i, first, err := d.claim(seq, name)
	if err != nil || !first {
		return err
	}
	c := draftChunk{first: seq, digest: name, size: int64(len(data))}
	if c.stored, err = d.store.lookUp(ctx, name, data); err != nil {
		return err
	}
	if c.fresh() {
		if c.location, err = d.store.heap.Append(name, data); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.chunks[i] = c
	return nil
}

// claim puts a chunk in its place and reports whether that is the first of the
// chunk's places.
func (d *Draft) claim(seq int, name digest.Digest) (i uint32, first bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, known := d.known[name]
	if !known {
		if len(d.chunks)%draftBlock == 0 && len(d.chunks) > 0 {
			if !d.store.memory.reserve(draftBlockBytes) {
				return 0, false, fail(ErrNoMemory, "the upload's list of chunks needs %d bytes more, for which the memory budget has no room; close streams or raise Options.MemoryBudget", draftBlockBytes)
			}
			d.reserved += draftBlockBytes
		}
		i = uint32(len(d.chunks))
		d.chunks = append(d.chunks, draftChunk{first: seq})
		d.known[name] = i
	}
	d.order[seq] = i
	return i, d.chunks[i].first == seq, nil
}

// Publish writes the rows of the draft's chunks and payload. It may run more than
// once, when a commit is tried again: the last run counts.
func (d *Draft) Publish(tx *catalog.Tx) error {
	d.surplus = d.surplus[:0]
	rows := make([]int64, len(d.chunks))
	for i := range d.chunks {
		row, used, err := d.chunks[i].publish(tx)
		if err != nil {
			return err
		}
		if d.chunks[i].fresh() && !used {
			d.surplus = append(d.surplus, d.chunks[i].location)
		}
		rows[i] = row
	}
	_, found, err := tx.Payload(d.published.Digest)
	d.published.Deduplicated = found
	if err != nil || found {
		return err
	}
	payload := catalog.Payload{Digest: d.published.Digest, Size: d.published.Size}
	return tx.PutPayload(&payload, func(yield func(catalog.Entry) bool) {
		for _, i := range d.order {
			if !yield(catalog.Entry{Chunk: rows[i], Size: d.chunks[i].size}) {
				return
			}
		}
	})
}

// publish returns the row of a chunk, and whether the draft's own record is what
// the row names. What was seen when the chunk was stored may have changed: the
// row is looked up again.
func (c *draftChunk) publish(tx *catalog.Tx) (row int64, used bool, err error) {
	there, found, err := tx.ChunkByDigest(c.digest)
	switch {
	case err != nil:
		return 0, false, err
	case !found && !c.fresh():
		return 0, false, fail(ErrGone, "chunk %v was already in the file when it was uploaded, but is no longer; upload the payload again", c.digest)
	case !found:
		fresh := catalog.Chunk{Digest: c.digest, Offset: c.location.Offset, Size: c.size, Stored: c.location.Stored}
		err = tx.PutChunk(&fresh)
		return fresh.ID, true, err
	case c.fresh() && there.Offset == c.location.Offset: // by an earlier commit of this draft
		return there.ID, true, nil
	case c.stored.state == damaged && there.Offset == c.stored.row.Offset:
		return there.ID, true, tx.MoveChunk(there.ID, c.location.Offset, c.location.Stored)
	}
	return there.ID, false, nil
}

// Settle ends a draft that is published. Records that turned out to be stored
// already become free space.
func (d *Draft) Settle() { d.end(d.surplus) }

// Doubt says that it is unknown whether a failed commit of the draft took
// place. None of its records may be freed then.
func (d *Draft) Doubt() { d.doubt = true }

// Abandon ends a draft that is not to be published. Its records become free
// space: at once, or after a Doubt at the next open. What is at the file's end goes
// back to the disk, which it may have filled for all others.
func (d *Draft) Abandon() {
	if d.ended {
		return
	}
	var records []heap.Location
	if !d.doubt {
		for i := range d.chunks {
			if d.chunks[i].fresh() {
				records = append(records, d.chunks[i].location)
			}
		}
	}
	d.end(records)
	_ = d.store.heap.Shrink() // the space is free in the file, then
}

// end gives back the draft's memory and some of its records, once.
func (d *Draft) end(records []heap.Location) {
	if d.ended {
		return
	}
	d.ended = true
	d.store.memory.release(d.reserved)
	d.reserved = 0
	for _, record := range records {
		d.store.heap.Free(record)
	}
}

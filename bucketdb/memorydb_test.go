package bucketdb

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

// memoryDB is a database in memory, whose writes are rows of every kind. Its rules
// are those of a file's: rows only come behind others, and fit them.
type memoryDB struct {
	mu       sync.Mutex
	at       replica.Position
	chunks   []replica.Chunk
	payloads []replica.Payload
	records  []replica.Record
	data     map[digest.Digest][]byte // of all databases of a world
	origin   replica.Origin
	cloned   bool
	// gate, of a process that is at work, waits before and after each commit.
	gate func(ctx context.Context, what string) error
}

func (d *memoryDB) clone() *memoryDB {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &memoryDB{
		at: d.at, chunks: slices.Clip(d.chunks), payloads: slices.Clip(d.payloads), records: slices.Clip(d.records),
		data: d.data, origin: d.origin, cloned: d.cloned,
	}
}

func (d *memoryDB) Position(context.Context) (replica.Position, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at, nil
}

func (d *memoryDB) Origin(context.Context) (replica.Origin, bool, error) {
	return d.origin, d.cloned, nil
}

func (d *memoryDB) SetOrigin(ctx context.Context, o replica.Origin) error {
	if err := d.gate(ctx, "origin"); err != nil {
		return err
	}
	d.origin, d.cloned = o, true
	return nil
}

func (d *memoryDB) At(_ context.Context, at replica.Position) (record []byte, chunk, payload digest.Digest, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		if r.ID == at.Transaction {
			record = r.Bytes
		}
	}
	for _, c := range d.chunks {
		if c.Row == at.Chunk {
			chunk = c.Digest
		}
	}
	for i := range d.payloads {
		if d.payloads[i].Row == at.Payload {
			payload = d.payloads[i].Digest
		}
	}
	return record, chunk, payload, nil
}

func (d *memoryDB) Chunks(_ context.Context, after, last int64, limit int) (out []replica.Chunk, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.chunks {
		if c.Row > after && c.Row <= last && len(out) < limit {
			out = append(out, c)
		}
	}
	return out, nil
}

func (d *memoryDB) Payloads(_ context.Context, after, last int64, limit int) (out []replica.Payload, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.payloads {
		if p := d.payloads[i]; p.Row > after && p.Row <= last && len(out) < limit {
			out = append(out, p)
		}
	}
	return out, nil
}

func (d *memoryDB) Records(_ context.Context, after, last int64, limit int) (out []replica.Record, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.records {
		if r.ID > after && r.ID <= last && limit > 0 {
			out = append(out, r)
			limit -= len(r.Bytes)
		}
	}
	return out, nil
}

func (d *memoryDB) Extent(context.Context, []replica.Record) (replica.Position, error) {
	return d.at, nil
}

func (d *memoryDB) CheckTables(_ context.Context, problem func(error)) error {
	if err := d.check(&replica.Rows{Chunks: d.chunks, Payloads: d.payloads, Records: d.records}); err != nil {
		problem(err)
	}
	return nil
}

func (d *memoryDB) read(_ context.Context, c replica.Chunk, use func([]byte) error) error {
	d.mu.Lock()
	data := d.data[c.Digest]
	d.mu.Unlock()
	return use(data)
}

func (d *memoryDB) draft() draft {
	return &memoryDraft{db: d, data: make(map[digest.Digest][]byte)}
}

// memoryDraft is rows on their way into a memoryDB.
type memoryDraft struct {
	db   *memoryDB
	mu   sync.Mutex
	data map[digest.Digest][]byte
}

func (t *memoryDraft) Add(_ context.Context, c replica.Chunk, data []byte) error {
	if digest.Of(data) != c.Digest || int64(len(data)) != c.Size {
		return replica.ErrMismatch
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data[c.Digest] = bytes.Clone(data)
	return nil
}

func (t *memoryDraft) Apply(ctx context.Context, after, to replica.Position, rows *replica.Rows) error {
	if err := t.db.gate(ctx, "apply"); err != nil {
		return err
	}
	for _, c := range rows.Chunks {
		if t.data[c.Digest] == nil {
			return fmt.Errorf("chunk %v was not added", c.Digest)
		}
	}
	if err := t.db.apply(after, to, rows); err != nil {
		return err
	}
	return t.db.gate(ctx, "applied")
}

func (t *memoryDraft) Close() {}

func (d *memoryDB) apply(after, to replica.Position, rows *replica.Rows) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != after {
		return replica.ErrMoved
	}
	all := &replica.Rows{
		Chunks: append(d.chunks, rows.Chunks...), Payloads: append(d.payloads, rows.Payloads...), Records: append(d.records, rows.Records...),
	}
	if err := d.check(all); err != nil {
		return err
	}
	d.chunks, d.payloads, d.records, d.at = all.Chunks, all.Payloads, all.Records, to
	return nil
}

// check finds what rows say of each other wrong, or out of order.
func (d *memoryDB) check(rows *replica.Rows) error {
	chunks := make(map[int64]replica.Chunk)
	payloads := make(map[digest.Digest]bool)
	last := replica.Position{}
	for _, c := range rows.Chunks {
		if c.Row <= last.Chunk {
			return fmt.Errorf("%w: chunk row %d after %d", catalog.ErrCorrupt, c.Row, last.Chunk)
		}
		last.Chunk, chunks[c.Row] = c.Row, c
	}
	for i := range rows.Payloads {
		p := &rows.Payloads[i]
		var whole []byte
		for _, e := range p.Entries {
			whole = append(whole, d.data[chunks[e.Chunk].Digest]...)
		}
		if p.Row <= last.Payload || payloads[p.Digest] || digest.Of(whole) != p.Digest {
			return fmt.Errorf("%w: payload row %d of %d entries %v, whole %d of %d", replica.ErrMismatch, p.Row, len(rows.Payloads), p.Entries, len(whole), p.Size)
		}
		last.Payload, payloads[p.Digest] = p.Row, true
	}
	for _, r := range rows.Records {
		t, err := catalog.DecodeRecord(r.Bytes)
		if err != nil {
			return err
		}
		if r.ID != t.ID || r.ID <= last.Transaction {
			return fmt.Errorf("%w: transaction %d after %d", catalog.ErrCorrupt, r.ID, last.Transaction)
		}
		last.Transaction = r.ID
		for i := range t.Facts {
			if v := t.Facts[i].Value; v.Kind == catalog.DigestValue && !payloads[v.Digest] {
				return fmt.Errorf("%w: transaction %d names a payload that is not there", catalog.ErrCorrupt, r.ID)
			}
		}
	}
	return nil
}

// has reports whether another database's rows are the first of this one's.
func (d *memoryDB) has(other *memoryDB) bool {
	if !reaches(d.at, other.at) {
		return false
	}
	end := other.at
	chunks := slices.DeleteFunc(slices.Clone(d.chunks), func(c replica.Chunk) bool { return c.Row > end.Chunk })
	payloads := slices.DeleteFunc(slices.Clone(d.payloads), func(p replica.Payload) bool { return p.Row > end.Payload })
	records := slices.DeleteFunc(slices.Clone(d.records), func(r replica.Record) bool { return r.ID > end.Transaction })
	return slices.Equal(chunks, other.chunks) &&
		slices.EqualFunc(payloads, other.payloads, func(a, b replica.Payload) bool {
			return a.Row == b.Row && a.Digest == b.Digest && slices.Equal(a.Entries, b.Entries)
		}) &&
		slices.EqualFunc(records, other.records, func(a, b replica.Record) bool { return bytes.Equal(a.Bytes, b.Bytes) })
}

// write commits something under a name: new content, of one chunk or two, content
// that is there, content alone, or nothing but a row that is removed at once.
func (d *memoryDB) write(random *rand.Rand, name string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kind := random.IntN(8)
	if kind == 0 {
		d.at.Chunk++ // it was removed
	}
	var p *replica.Payload
	if kind < 6 || len(d.payloads) == 0 {
		p = d.publish(random, 1+kind%2, name)
	} else {
		p = &d.payloads[random.IntN(len(d.payloads))]
	}
	if kind == 1 {
		return
	}
	d.at.Transaction += 2
	id := d.at.Transaction
	record := catalog.AppendRecord(nil, &catalog.Transaction{ID: id, Time: now.UTC(), Facts: []catalog.Fact{
		catalog.Int64(id-1, catalog.AttributeParent, 0), catalog.String(id-1, catalog.AttributeName, name),
		catalog.Digest(id-1, catalog.AttributeDigest, p.Digest),
	}})
	d.records = append(d.records, replica.Record{ID: id, Bytes: record})
}

// publish adds chunks and a payload of them.
func (d *memoryDB) publish(random *rand.Rand, chunks int, name string) *replica.Payload {
	p := replica.Payload{}
	var whole []byte
	for i := range chunks {
		data := fmt.Appendf(nil, "%s %d %x", name, i, random.Uint64())
		if random.IntN(2) == 0 {
			data = bytes.Repeat(data, 1+random.IntN(9))
		}
		c := replica.Chunk{Row: d.at.Chunk + 1, Digest: digest.Of(data), Size: int64(len(data))}
		d.at.Chunk, d.chunks, d.data[c.Digest] = c.Row, append(d.chunks, c), data
		whole = append(whole, data...)
		p.Size += c.Size
		p.Entries = append(p.Entries, replica.Entry{Chunk: c.Row, Size: c.Size})
	}
	p.Row, p.Digest = d.at.Payload+1, digest.Of(whole)
	d.at.Payload, d.payloads = p.Row, append(d.payloads, p)
	return &p
}

package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

// Decode decodes a batch. The error wraps ErrCorrupt, or ErrNewer for what a newer
// version wrote.
func Decode(b []byte) (*Batch, error) {
	if len(b) > MaxSize {
		return nil, corrupt("%d bytes, more than a batch can have", len(b))
	}
	if len(b) < fixedSize+sha256.Size || string(b[:3]) != batchMagic[:3] {
		return nil, corrupt("no batch")
	}
	if b[3] != batchMagic[3] {
		return nil, ErrNewer
	}
	body, end := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], end) {
		return nil, corrupt("it does not match its checksum")
	}
	if b[4] != 0 {
		return nil, ErrNewer
	}
	out := new(Batch)
	d := decoder{rest: body[5:]}
	copy(out.Identity[:], d.take(16))
	out.Number = d.int()
	d.digest(&out.Previous)
	copy(out.Writer[:], d.take(16))
	copy(out.Nonce[:], d.take(16))
	out.Time = time.Unix(0, int64(binary.LittleEndian.Uint64(d.take(8)))).UTC()
	out.Before, out.After = d.position(), d.position()
	d.digest(&out.Tip.Record)
	d.digest(&out.Tip.Chunk)
	d.digest(&out.Tip.Payload)
	if err := out.entries(&d); err != nil {
		return nil, err
	}
	if d.bad {
		return nil, corrupt("malformed entry")
	}
	return out, out.check()
}

func (b *Batch) entries(d *decoder) error {
	last := byte(entryPack)
	for len(d.rest) > 0 && !d.bad {
		kind := d.byte()
		entry := decoder{rest: d.take(d.count())}
		if d.bad {
			break
		}
		if kind > entryHorizon {
			return ErrNewer
		}
		if kind < last || kind == last && (kind == entryChunks || kind == entryHorizon) {
			return corrupt("entries out of order")
		}
		last = kind
		switch kind {
		case entryPack:
			var p PackRef
			copy(p.Name[:], entry.take(16))
			p.Size = entry.positive()
			b.Packs = append(b.Packs, p)
		case entryChunks:
			b.chunks(&entry)
		case entryPayload:
			b.payload(&entry)
		case entryTransaction:
			record := entry.take(len(entry.rest))
			t, err := catalog.DecodeRecord(record)
			if err != nil {
				return corrupt("transaction: %v", err)
			}
			b.Rows.Records = append(b.Rows.Records, replica.Record{ID: t.ID, Bytes: bytes.Clone(record)})
		case entryHorizon:
			b.Horizon = entry.positive()
			entry.bad = entry.bad || b.Horizon >= 1<<48 // the time of a ULID
		}
		d.bad = d.bad || entry.bad || len(entry.rest) > 0
	}
	return nil
}

func (b *Batch) chunks(d *decoder) {
	n := d.count()
	const least = 1 + 32 + 5 // bytes of one
	if n == 0 || n > len(d.rest)/least {
		d.bad = true
		return
	}
	b.Rows.Chunks = make([]replica.Chunk, 0, n)
	b.Places = make([]Place, 0, n)
	row := b.Before.Chunk
	for i := 0; i < n && !d.bad; i++ {
		var c replica.Chunk
		var p Place
		row += d.positive()
		c.Row = row
		d.digest(&c.Digest)
		c.Size = d.positive()
		p.Pack = d.count()
		p.Offset, p.Stored = d.positive(), d.positive()
		p.Codec = Codec(d.byte())
		d.bad = d.bad || c.Size > chunk.Max || p.Pack >= len(b.Packs) || p.Codec >= codecs || row > b.After.Chunk ||
			p.Codec == Raw && p.Stored != c.Size || p.Codec != Raw && p.Stored >= c.Size ||
			p.Offset > b.Packs[p.Pack].Size-p.Stored
		b.Rows.Chunks, b.Places = append(b.Rows.Chunks, c), append(b.Places, p)
	}
}

func (b *Batch) payload(d *decoder) {
	p := replica.Payload{Row: b.Before.Payload}
	if n := len(b.Rows.Payloads); n > 0 {
		p.Row = b.Rows.Payloads[n-1].Row
	}
	p.Row += d.positive()
	d.digest(&p.Digest)
	p.Size = d.uvarint()
	size := int64(0)
	for len(d.rest) > 0 && !d.bad {
		e := replica.Entry{Chunk: d.positive(), Size: d.positive()}
		size += e.Size
		d.bad = d.bad || e.Size > chunk.Max || e.Chunk > b.After.Chunk
		p.Entries = append(p.Entries, e)
	}
	d.bad = d.bad || size != p.Size || p.Row > b.After.Payload
	b.Rows.Payloads = append(b.Rows.Payloads, p)
}

// check compares the parts with each other.
func (b *Batch) check() error {
	if b.Number < 1 || (b.Number == 1) != (b.Previous == digest.Digest{}) {
		return corrupt("number %d", b.Number)
	}
	if b.Before.Transaction > b.After.Transaction || b.Before.Chunk > b.After.Chunk || b.Before.Payload > b.After.Payload {
		return corrupt("it ends before it begins")
	}
	id := b.Before.Transaction
	for _, r := range b.Rows.Records {
		if r.ID <= id {
			return corrupt("transaction %d after %d", r.ID, id)
		}
		id = r.ID
	}
	if id > b.After.Transaction {
		return corrupt("transaction %d lies beyond its end, %d", id, b.After.Transaction)
	}
	return nil
}

// decoder takes values off the front; bad sticks.
type decoder struct {
	rest []byte
	bad  bool
}

// take returns n bytes, zeros when there are fewer.
func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return make([]byte, min(max(n, 0), 64))
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) byte() byte { return d.take(1)[0] }

func (d *decoder) digest(to *digest.Digest) { copy(to[:], d.take(len(to))) }

// largest bounds every number, so that sums do not overflow.
const largest = 1<<62 - 1

func (d *decoder) limit(v uint64) int64 {
	if v > largest {
		d.bad = true
		return 0
	}
	return int64(v)
}

func (d *decoder) int() int64 { return d.limit(binary.LittleEndian.Uint64(d.take(8))) }

func (d *decoder) position() replica.Position {
	return replica.Position{Transaction: d.int(), Chunk: d.int(), Payload: d.int()}
}

func (d *decoder) uvarint() int64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || n > 1 && d.rest[n-1] == 0 { // a longer form would be a second encoding
		d.bad = true
		return 0
	}
	d.take(n)
	return d.limit(v)
}

// positive is a uvarint of at least one.
func (d *decoder) positive() int64 {
	v := d.uvarint()
	d.bad = d.bad || v == 0
	return v
}

// count is a uvarint with the number of items in the rest.
func (d *decoder) count() int {
	v := d.uvarint()
	if v > MaxSize {
		d.bad = true
		return 0
	}
	return int(v)
}

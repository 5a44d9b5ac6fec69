package bucketdb

import (
	"github.com/stardustdb/stardust/internal/replica"
)

// A group of batches is applied in one commit: pushes are often small, and a
// durable commit for each would dominate the time.
const (
	groupBatches = 256
	groupBytes   = 64 << 20 // of chunks
)

// group is batches on their way into a file.
type group struct {
	rows    replica.Rows
	packs   []packFetch
	batches int64
	bytes   int64
}

func (g *group) full() bool { return g.batches >= groupBatches || g.bytes >= groupBytes }

// gather adds what the file lacks of a batch to the group: its rows, and where the
// bytes of the chunks are.
func (p *puller) gather(l *link) {
	g := &p.group
	for i, c := range l.Rows.Chunks {
		if c.Row > p.next.Chunk {
			g.chunk(l, i)
		}
	}
	for i := range l.Rows.Payloads {
		if l.Rows.Payloads[i].Row > p.next.Payload {
			g.rows.Payloads = append(g.rows.Payloads, l.Rows.Payloads[i])
		}
	}
	to := farther(p.next, l.After)
	for _, r := range l.Rows.Records {
		if p.options.At != 0 && r.ID > p.options.At {
			to.Transaction = p.next.Transaction
			break
		}
		if r.ID > p.next.Transaction {
			g.rows.Records = append(g.rows.Records, r)
			p.next.Transaction = r.ID
		}
	}
	g.batches++
	p.next, p.last = to, l
}

// chunk adds a chunk of a batch, to the same GET as the chunk before it if it
// follows that one in the pack.
func (g *group) chunk(l *link, i int) {
	c, place := l.Rows.Chunks[i], l.Places[i]
	g.rows.Chunks = append(g.rows.Chunks, c)
	g.bytes += c.Size
	if n := len(g.packs); n > 0 {
		f := &g.packs[n-1]
		last := f.places[len(f.places)-1]
		if f.number == l.Number && last.Pack == place.Pack && place.Offset >= last.Offset+last.Stored {
			f.chunks, f.places = append(f.chunks, c), append(f.places, place)
			return
		}
	}
	g.packs = append(g.packs, packFetch{
		number: l.Number, pack: l.Packs[place.Pack],
		chunks: []replica.Chunk{c}, places: append(l.Places[:0:0], place),
	})
}

// farther returns the position that is at or beyond both in each of its
// numbers.
func farther(a, b replica.Position) replica.Position {
	return replica.Position{Transaction: max(a.Transaction, b.Transaction), Chunk: max(a.Chunk, b.Chunk), Payload: max(a.Payload, b.Payload)}
}

func lastOf(records []replica.Record) int64 {
	if len(records) == 0 {
		return 0
	}
	return records[len(records)-1].ID
}

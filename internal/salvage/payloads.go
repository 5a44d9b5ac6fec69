package salvage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/heap"
)

// Payload is a payload all of whose chunks are there, in order.
type Payload struct {
	Digest digest.Digest
	Size   int64
	Chunks []digest.Digest
}

// Reader reads a chunk that was found and verifies it.
type Reader interface {
	Read(loc heap.Location, digest digest.Digest, data []byte) error
}

// payloads puts payloads together.
type payloads struct {
	*Found
	reader Reader
	// ids are the row ids that a payload may have had, for those whose row is lost.
	ids map[digest.Digest][]int64
	// byID tells which payload had a row id.
	byID map[int64]digest.Digest

	whole   map[digest.Digest]*Payload
	used    map[digest.Digest]bool     // chunks of whole payloads
	unnamed map[int64][]digest.Digest  // chunks whose row is lost, by size
	broken  map[digest.Digest]struct{} // payloads that were there and are not whole
}

func newPayloads(f *Found, reader Reader) *payloads {
	p := &payloads{
		Found: f, reader: reader, ids: make(map[digest.Digest][]int64), byID: make(map[int64]digest.Digest),
		whole: make(map[digest.Digest]*Payload), used: make(map[digest.Digest]bool),
		unnamed: make(map[int64][]digest.Digest), broken: make(map[digest.Digest]struct{}),
	}
	known := make(map[digest.Digest]bool)
	for _, c := range f.Chunks {
		known[c.Digest] = true
	}
	for d, loc := range f.Stored {
		if !known[d] {
			p.unnamed[loc.Size] = append(p.unnamed[loc.Size], d)
		}
	}
	for id, row := range f.Payloads {
		p.byID[id] = row.Digest
	}
	// An index by digest is one of chunks or of payloads; where a chunk's row says
	// otherwise, it is the one of payloads.
	for id, digests := range f.Digests {
		if _, ok := p.byID[id]; ok {
			continue
		}
		chunk, ok := f.Chunks[id]
		if !ok {
			continue
		}
		for _, d := range digests {
			if d != chunk.Digest {
				p.byID[id] = d
			}
		}
	}
	for id, d := range p.byID {
		p.ids[d] = append(p.ids[d], id)
	}
	return p
}

// find puts the payload with a digest together, if all of it is there.
func (p *payloads) find(ctx context.Context, d digest.Digest) (*Payload, error) {
	if found, ok := p.whole[d]; ok {
		return found, nil
	}
	if _, ok := p.broken[d]; ok {
		return nil, nil
	}
	found := p.single(d)
	for _, id := range p.ids[d] {
		if found != nil {
			break
		}
		var err error
		if found, err = p.assemble(ctx, d, id); err != nil {
			return nil, err
		}
	}
	if found == nil {
		var err error
		if found, err = p.guess(ctx, d); err != nil {
			return nil, err
		}
	}
	if found == nil {
		p.broken[d] = struct{}{}
		return nil, nil
	}
	p.whole[d] = found
	for _, c := range found.Chunks {
		p.used[c] = true
	}
	return found, nil
}

// single returns a payload that is empty or one chunk, whose digest is its own.
func (p *payloads) single(d digest.Digest) *Payload {
	if d == digest.Of(nil) {
		return &Payload{Digest: d}
	}
	if loc, ok := p.Stored[d]; ok {
		return &Payload{Digest: d, Size: loc.Size, Chunks: []digest.Digest{d}}
	}
	return nil
}

// assemble puts a payload together from the manifest of a row id, or returns nil.
func (p *payloads) assemble(ctx context.Context, d digest.Digest, id int64) (*Payload, error) {
	segments := make([]catalog.Segment, 0, len(p.Manifests[id]))
	for _, s := range p.Manifests[id] {
		segments = append(segments, s)
	}
	slices.SortFunc(segments, func(a, b catalog.Segment) int { return cmp.Compare(a.Start, b.Start) })
	found := &Payload{Digest: d}
	row, proved := p.Payloads[id]
	for _, s := range segments {
		if s.Start != found.Size {
			return nil, nil
		}
		for _, e := range s.Entries {
			c, sure := p.chunk(e)
			if c == (digest.Digest{}) {
				return nil, nil
			}
			proved = proved && sure
			found.Chunks = append(found.Chunks, c)
		}
		found.Size = s.End()
	}
	if proved {
		if found.Size != row.Size || int64(len(found.Chunks)) != row.Chunks {
			return nil, nil
		}
		return found, nil
	}
	if ok, err := p.verify(ctx, found); !ok || err != nil {
		return nil, err
	}
	return found, nil
}

// guess looks for a payload whose manifest is lost among chunks that got their
// rows one after the other, as those of one upload do.
func (p *payloads) guess(ctx context.Context, d digest.Digest) (*Payload, error) {
	for _, id := range p.ids[d] {
		row, ok := p.Payloads[id]
		if !ok || row.Chunks < 2 || row.Chunks > int64(len(p.Chunks)) {
			continue
		}
		for first := range p.Chunks {
			found := p.run(first, &row)
			if found == nil {
				continue
			}
			if ok, err := p.verify(ctx, found); ok || err != nil {
				return found, err
			}
		}
	}
	return nil, nil
}

// run returns the chunks from a row id on if they have a payload's size.
func (p *payloads) run(first int64, row *catalog.Payload) *Payload {
	size := int64(0)
	for i := range row.Chunks {
		c, ok := p.Chunks[first+i]
		if size += c.Size; !ok || size > row.Size {
			return nil
		}
	}
	if size != row.Size {
		return nil
	}
	found := &Payload{Digest: row.Digest, Size: row.Size}
	for i := range row.Chunks {
		c := p.Chunks[first+i]
		if loc, ok := p.Stored[c.Digest]; !ok || loc.Size != c.Size {
			return nil
		}
		found.Chunks = append(found.Chunks, c.Digest)
	}
	return found
}

// chunk returns the digest of a manifest's entry, zero when it is not there. It is
// not sure when the chunk's row is lost.
func (p *payloads) chunk(e catalog.Entry) (d digest.Digest, sure bool) {
	is := func(d digest.Digest) bool {
		loc, ok := p.Stored[d]
		return ok && loc.Size == e.Size
	}
	if c, ok := p.Chunks[e.Chunk]; ok {
		if !is(c.Digest) {
			return digest.Digest{}, false
		}
		return c.Digest, true
	}
	for _, d := range p.Digests[e.Chunk] {
		if is(d) {
			return d, false
		}
	}
	if candidates := p.unnamed[e.Size]; len(candidates) == 1 {
		return candidates[0], false
	}
	return digest.Digest{}, false
}

// verify compares a payload with its digest.
func (p *payloads) verify(ctx context.Context, found *Payload) (bool, error) {
	sum := sha256.New()
	for _, c := range found.Chunks {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		loc := p.Stored[c]
		data := make([]byte, loc.Size)
		if err := p.reader.Read(loc, c, data); err != nil {
			if errors.Is(err, heap.ErrCorrupt) {
				return false, nil
			}
			return false, err
		}
		sum.Write(data)
	}
	return digest.Digest(sum.Sum(nil)) == found.Digest, nil
}

// orphans returns the chunks that no whole payload has, as payloads.
func (p *payloads) orphans() []digest.Digest {
	var list []digest.Digest
	for d := range p.Stored {
		if !p.used[d] {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b digest.Digest) int {
		return cmp.Compare(p.Stored[a].Offset, p.Stored[b].Offset)
	})
	return list
}

package catalog

import (
	"time"

	"github.com/stardustdb/stardust/internal/btree"
	"github.com/stardustdb/stardust/internal/digest"
)

// Remains are rows that were found on single pages, whatever led to them. Each
// is proved by its own checksum, which also tells which table it is of. A row may
// be an old one, of a page that is free by now. All of it is in memory.
type Remains struct {
	Chunks     map[int64]Chunk
	Payloads   map[int64]Payload
	Manifests  map[int64]map[int64]Segment // by payload and start
	Nodes      map[int64][]Node
	Versions   map[int64][]Version
	Attributes map[int64][]AttributeRow
	Log        map[int64]*Transaction
	Gaps       Gaps // in no order
	// Digests are the entries of the indexes by digest: the digests of the chunk or
	// of the payload that has a row id. Their page proves them.
	Digests map[int64][]digest.Digest

	packer *packer
}

// AttributeRow is an attribute of an entity from Revision until, but not
// including, Until; zero when it is still so.
type AttributeRow struct {
	Name            string
	Revision, Until int64
	Value           []byte
}

// NewRemains returns none.
func NewRemains() *Remains {
	return &Remains{
		Chunks: make(map[int64]Chunk), Payloads: make(map[int64]Payload),
		Manifests: make(map[int64]map[int64]Segment), Nodes: make(map[int64][]Node),
		Versions: make(map[int64][]Version), Attributes: make(map[int64][]AttributeRow),
		Log: make(map[int64]*Transaction), Digests: make(map[int64][]digest.Digest),
		packer: newPacker(),
	}
}

// Add adds a cell if it is a row of ours, and ignores it otherwise.
func (r *Remains) Add(kind btree.Kind, c *btree.Cell) {
	v := row(c.Values)
	if len(v) == 0 {
		return
	}
	if kind == btree.TableLeaf {
		switch {
		case v.are("-biii"):
			r.addChunk(c.Row, v)
		case v.are("-biiii"), v.are("-bii-i"):
			r.addPayload(c.Row, v)
		case v.are("-ibiii"), v.are("-ib-ii"):
			r.addNode(c.Row, v)
		case v.are("-bi"):
			r.addLog(c.Row, v)
		case v.are("-iii"):
			g := gap{c.Row, v[1].Int, time.Unix(0, v[2].Int).UTC()}
			if g.whole(v.crc()) {
				r.Gaps = append(r.Gaps, g)
			}
		}
		return
	}
	switch {
	case v.are("bi"):
		if len(v[0].Blob) == len(digest.Digest{}) {
			id := v[1].Int
			r.Digests[id] = append(r.Digests[id], digest.Digest(v[0].Blob))
		}
	case v.are("iibi"):
		r.addSegment(v)
	case v.are("iiiiibii"), v.are("iiiiib-i"):
		r.addVersion(v)
	case v.are("ibiibi"):
		r.addAttribute(v)
	}
}

// row are the values of a row, in the order of the columns; the key's come first
// in tables without row ids.
type row []btree.Value

// are reports whether the types are these: - for NULL, i for an integer, b for a
// BLOB.
func (r row) are(types string) bool {
	if len(r) != len(types) {
		return false
	}
	for i := range r {
		want := btree.Int
		switch types[i] {
		case '-':
			want = btree.Null
		case 'b':
			want = btree.Blob
		}
		if r[i].Type != want {
			return false
		}
	}
	return true
}

func (r row) crc() int64 { return r[len(r)-1].Int }

func (r *Remains) addChunk(id int64, v row) {
	if len(v[1].Blob) != len(digest.Digest{}) {
		return
	}
	c := Chunk{ID: id, Digest: digest.Digest(v[1].Blob), Offset: v[2].Int}
	if c.setSizes(v[3].Int) && c.sum().sum() == v.crc() {
		r.Chunks[id] = c
	}
}

func (r *Remains) addPayload(id int64, v row) {
	if len(v[1].Blob) != len(digest.Digest{}) {
		return
	}
	p := Payload{ID: id, Digest: digest.Digest(v[1].Blob), Size: v[2].Int, Chunks: v[3].Int, Chunk: v[4].Int}
	if p.sum().sum() == v.crc() {
		r.Payloads[id] = p
	}
}

func (r *Remains) addSegment(v row) {
	payload, start, raw := v[0].Int, v[1].Int, v[2].Blob
	if segmentSum(payload, start, raw).sum() != v.crc() {
		return
	}
	entries, err := decodeEntries(raw, start)
	if err != nil {
		return
	}
	if r.Manifests[payload] == nil {
		r.Manifests[payload] = make(map[int64]Segment)
	}
	r.Manifests[payload][start] = Segment{start, entries}
}

func (r *Remains) addNode(entity int64, v row) {
	n := Node{
		Entity: entity, Parent: v[1].Int, Name: string(v[2].Blob),
		File: v[3].Type == btree.Int, Payload: v[3].Int, Revision: v[4].Int,
	}
	if n.sum().sum() == v.crc() {
		r.Nodes[entity] = append(r.Nodes[entity], n)
	}
}

func (r *Remains) addVersion(v row) {
	old := Version{Node: Node{
		Entity: v[0].Int, Revision: v[1].Int, Parent: v[4].Int, Name: string(v[5].Blob),
		File: v[6].Type == btree.Int, Payload: v[6].Int,
	}, Until: v[2].Int, Removed: v[3].Int != 0}
	if old.sum().sum() == v.crc() {
		r.Versions[old.Entity] = append(r.Versions[old.Entity], old)
	}
}

func (r *Remains) addAttribute(v row) {
	entity := v[0].Int
	a := AttributeRow{
		Name: string(v[1].Blob), Revision: v[2].Int, Until: v[3].Int,
		Value: append([]byte(nil), v[4].Blob...),
	}
	if attributeSum(entity, a.Revision, a.Until, a.Name, a.Value).sum() != v.crc() {
		return
	}
	if a.Until == forever {
		a.Until = 0
	}
	r.Attributes[entity] = append(r.Attributes[entity], a)
}

func (r *Remains) addLog(id int64, v row) {
	if logSum(id, v[1].Blob).sum() != v.crc() {
		return
	}
	record, err := r.packer.record(v[1].Blob)
	if err != nil {
		return
	}
	if t, err := DecodeRecord(record); err == nil && t.ID == id {
		r.Log[id] = t
	}
}

// LogTable returns the page where the log begins, given the cells of the pages of
// the schema.
func LogTable(c *btree.Cell) (page int64, found bool) {
	// type, name, tbl_name, rootpage, sql
	v := c.Values
	if len(v) != 5 || v[3].Type != btree.Int || string(v[0].Blob) != "table" || string(v[1].Blob) != "log" {
		return 0, false
	}
	return v[3].Int, true
}

package catalog

import (
	"cmp"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Forgetting is what goes when all revisions but some are forgotten: the versions
// that none of the kept ones shows, the payloads that nothing names then though
// one of these versions did, and the chunks of these that no other payload has.
type Forgetting struct {
	Versions     int64 // of nodes
	Payloads     []Payload
	PayloadBytes int64
	Chunks       []Chunk
	ChunkBytes   int64
	Transactions int64 // of which nothing is left

	keep     []int64 // ascending
	gaps     Gaps    // as they will be
	affected map[int64]bool
}

// Empty reports whether nothing would change.
func (f *Forgetting) Empty() bool { return f.Versions == 0 && f.gaps == nil }

// keeps reports whether a kept revision lies from one id to, but not including,
// another.
func (f *Forgetting) keeps(from, until int64) bool {
	i, _ := slices.BinarySearch(f.keep, from)
	return i < len(f.keep) && f.keep[i] < until
}

// Forgetting finds out what would go if only these revisions were kept, ascending,
// each that of a transaction and readable, the last one among them. Nothing goes
// while rows that tell what is in use are damaged.
func (v *View) Forgetting(keep []int64) (*Forgetting, error) {
	f := &Forgetting{keep: keep, affected: make(map[int64]bool)}
	if err := v.findGaps(f); err != nil || f.gaps == nil {
		return f, err
	}
	candidates := make(map[int64]bool) // payloads
	if err := v.findVersions(f, candidates); err != nil {
		return nil, err
	}
	for id := range candidates {
		named, err := v.namedStill(f, id)
		if err != nil {
			return nil, err
		}
		if named {
			delete(candidates, id)
		}
	}
	return f, v.findPayloads(f, candidates)
}

// findGaps joins the gaps that there are with the transactions that are not kept.
// When nothing is added, f.gaps stays nil.
func (v *View) findGaps(f *Forgetting) error {
	old, err := v.Gaps()
	if err != nil {
		return err
	}
	starts := slices.Clone(old)
	err = v.Times(func(id int64, at time.Time) bool {
		if _, kept := slices.BinarySearch(f.keep, id); !kept {
			starts = append(starts, gap{id, id, at})
		}
		return true
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(starts, func(a, b gap) int { return cmp.Compare(a.first, b.first) })
	var gaps Gaps
	for _, s := range starts {
		i, _ := slices.BinarySearch(f.keep, s.first)
		if i == len(f.keep) {
			return corrupt("revision %d is later than the last one", s.first)
		}
		s.last = f.keep[i] - 1
		if n := len(gaps); n == 0 || gaps[n-1].last != s.last {
			gaps = append(gaps, s)
		}
	}
	if !slices.Equal(gaps, old) {
		f.gaps = gaps
	}
	return nil
}

// findVersions finds the versions that go, the nodes that they are of, and the
// payloads that they name.
func (v *View) findVersions(f *Forgetting, payloads map[int64]bool) error {
	err := v.conn.query(`SELECT `+versionColumns+versionJoin+`ORDER BY n.entity, n.revision`,
		func(s *sqlite3.Stmt) (bool, error) {
			var old Version
			if err := scanVersion(s, &old); err != nil {
				return false, err
			}
			if f.keeps(old.Revision, old.Until) {
				return true, nil
			}
			f.Versions++
			f.affected[old.Entity] = true
			if old.File {
				payloads[old.Payload] = true
			}
			return true, nil
		})
	if err != nil {
		return err
	}
	return v.conn.query(`SELECT revision, until FROM attribute WHERE entity = 0`, func(s *sqlite3.Stmt) (bool, error) {
		if !f.keeps(s.ColumnInt64(0), s.ColumnInt64(1)) {
			f.affected[Root] = true
			return false, nil
		}
		return true, nil
	})
}

// namedStill reports whether a node, or a version that stays, names a payload.
func (v *View) namedStill(f *Forgetting, payload int64) (named bool, err error) {
	err = v.conn.query(`SELECT 1 FROM node WHERE payload = ? LIMIT 1`,
		func(*sqlite3.Stmt) (bool, error) { named = true; return false, nil }, payload)
	if err != nil || named {
		return named, err
	}
	err = v.conn.query(`SELECT revision, until FROM version WHERE payload = ?`, func(s *sqlite3.Stmt) (bool, error) {
		named = f.keeps(s.ColumnInt64(0), s.ColumnInt64(1))
		return !named, nil
	}, payload)
	return named, err
}

// findPayloads lists the payloads that go, and those of their chunks that no other
// payload has.
func (v *View) findPayloads(f *Forgetting, going map[int64]bool) error {
	if len(going) == 0 {
		return nil
	}
	chunks := make(map[int64]bool)
	var staying []Payload
	err := v.Payloads(0, func(p *Payload) bool {
		if going[p.ID] {
			f.Payloads = append(f.Payloads, *p)
			f.PayloadBytes += p.Size
		} else {
			staying = append(staying, *p)
		}
		return true
	})
	for i := range f.Payloads {
		if err == nil {
			err = v.eachEntry(&f.Payloads[i], func(chunk int64) { chunks[chunk] = true })
		}
	}
	for i := range staying {
		if err == nil {
			err = v.eachEntry(&staying[i], func(chunk int64) { delete(chunks, chunk) })
		}
	}
	if err != nil {
		return err
	}
	for id := range chunks {
		c, err := v.Chunk(id)
		if err != nil {
			return err
		}
		f.Chunks = append(f.Chunks, c)
		f.ChunkBytes += c.Stored
	}
	slices.SortFunc(f.Chunks, func(a, b Chunk) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// eachEntry calls fn with the row of every chunk of a payload.
func (v *View) eachEntry(p *Payload, fn func(chunk int64)) error {
	if p.Chunks == 1 && p.Chunk != 0 {
		fn(p.Chunk)
		return nil
	}
	for at := int64(0); at < p.Size; {
		segment, err := v.Segment(p, at)
		if err != nil {
			return err
		}
		for _, e := range segment.Entries {
			fn(e.Chunk)
		}
		at = segment.End()
	}
	return nil
}

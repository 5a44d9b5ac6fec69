package salvage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

// events are the transactions that are known, from their records or from the rows
// that they wrote.
type events struct {
	found *Found
	byID  map[int64]digest.Digest // payloads by row id

	last    int64                    // the largest id that anything has
	missing int64                    // the largest id of which nothing is known
	written map[int64]map[int64]bool // revisions by entity that the rows of nodes have
	said    map[change]bool          // what the rows of nodes and versions say
	unclear map[int64]int64          // transactions by entity that changed it, nobody knows how
}

// change is what a transaction did to an entity.
type change struct{ transaction, entity int64 }

// newEvents looks at everything that has an id.
func newEvents(f *Found, byID map[int64]digest.Digest) *events {
	e := &events{
		found: f, byID: byID,
		written: make(map[int64]map[int64]bool), said: make(map[change]bool), unclear: make(map[int64]int64),
	}
	seen := make(map[int64]bool)
	see := func(ids ...int64) {
		for _, id := range ids {
			seen[id] = true
			e.last = max(e.last, id)
		}
	}
	for id, t := range f.Log {
		see(id)
		for i := range t.Facts {
			see(t.Facts[i].Entity)
		}
	}
	for entity, rows := range f.Nodes {
		e.written[entity] = make(map[int64]bool)
		for i := range rows {
			see(entity, rows[i].Parent)
			e.last = max(e.last, rows[i].Revision)
			e.written[entity][rows[i].Revision] = true
		}
	}
	for entity, rows := range f.Versions {
		for i := range rows {
			see(entity, rows[i].Parent)
			e.last = max(e.last, rows[i].Revision, rows[i].Until)
		}
	}
	for id := e.last; id > 0 && e.missing == 0; id-- {
		if !seen[id] {
			e.missing = id
		}
	}
	return e
}

// surely says whether an entity's state at a revision is its latest: either no
// later transaction is missing, or the row of the node says so.
func (e *events) surely(entity, revision int64) bool {
	if e.found.LogWhole || e.found.LogEnd && revision > e.missing {
		return true
	}
	return e.written[entity][revision]
}

// transactions returns all that are known, in order.
func (e *events) transactions() []*catalog.Transaction {
	byID := maps.Clone(e.found.Log)
	if !e.found.LogWhole {
		e.fromNodes(byID)
		e.fromVersions(byID)
		e.fromAttributes(byID)
	}
	list := slices.SortedFunc(maps.Values(byID), func(a, b *catalog.Transaction) int { return cmp.Compare(a.ID, b.ID) })
	last := time.Unix(0, 0).UTC()
	for _, t := range list {
		if t.Time.IsZero() {
			t.Time = last
			slices.SortStableFunc(t.Facts, func(a, b catalog.Fact) int { return cmp.Compare(a.Entity, b.Entity) })
		}
		last = t.Time
	}
	return list
}

// lacking returns the transaction to put facts in, or nil when its record is
// known.
func (e *events) lacking(byID map[int64]*catalog.Transaction, id int64) *catalog.Transaction {
	if _, ok := e.found.Log[id]; ok {
		return nil
	}
	if byID[id] == nil {
		byID[id] = &catalog.Transaction{ID: id}
	}
	return byID[id]
}

func (e *events) fromNodes(byID map[int64]*catalog.Transaction) {
	for _, rows := range e.found.Nodes {
		for i := range rows {
			e.state(byID, &rows[i])
		}
	}
	for _, rows := range e.found.Versions {
		for i := range rows {
			e.state(byID, &rows[i].Node)
		}
	}
}

// state adds what a row says of a node from its revision on.
func (e *events) state(byID map[int64]*catalog.Transaction, n *catalog.Node) {
	t := e.lacking(byID, n.Revision)
	if t == nil || e.said[change{n.Revision, n.Entity}] {
		return
	}
	e.said[change{n.Revision, n.Entity}] = true
	t.Facts = append(t.Facts, catalog.Int64(n.Entity, catalog.AttributeParent, n.Parent),
		catalog.String(n.Entity, catalog.AttributeName, n.Name))
	if n.File {
		// The zero digest is of no payload: such a file is listed as lost.
		t.Facts = append(t.Facts, catalog.Digest(n.Entity, catalog.AttributeDigest, e.byID[n.Payload]))
	}
}

func (e *events) fromVersions(byID map[int64]*catalog.Transaction) {
	for entity, rows := range e.found.Versions {
		for i := range rows {
			v := &rows[i]
			if v.Removed {
				if t := e.lacking(byID, v.Until); t != nil {
					t.Facts = append(t.Facts, gone(entity, v.File)...)
				}
			} else if e.found.Log[v.Until] == nil && !e.said[change{v.Until, entity}] {
				e.unclear[entity] = max(e.unclear[entity], v.Until)
			}
		}
	}
}

func (e *events) fromAttributes(byID map[int64]*catalog.Transaction) {
	for entity, rows := range e.found.Attributes {
		for i := range rows {
			a := &rows[i]
			if t := e.lacking(byID, a.Revision); t != nil {
				t.Facts = append(t.Facts, catalog.Raw(entity, a.Name, a.Value))
			}
			again := func(b catalog.AttributeRow) bool { return b.Name == a.Name && b.Revision == a.Until }
			if a.Until == 0 || slices.ContainsFunc(rows, again) {
				continue
			}
			if t := e.lacking(byID, a.Until); t != nil {
				t.Facts = append(t.Facts, catalog.Retract(entity, a.Name))
			}
		}
	}
}

// gone are the facts that remove a node.
func gone(entity int64, file bool) []catalog.Fact {
	facts := []catalog.Fact{
		catalog.Retract(entity, catalog.AttributeParent),
		catalog.Retract(entity, catalog.AttributeName),
	}
	if file {
		facts = append(facts, catalog.Retract(entity, catalog.AttributeDigest))
	}
	return facts
}

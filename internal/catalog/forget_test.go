package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// past writes random histories: nodes come, change, move and go, and so do
// attributes of theirs and of the database.
type past struct {
	random *rand.Rand
	next   int64
	nodes  map[int64]map[string]bool // live, with their attributes
	notes  map[string]bool
	ids    []int64 // of transactions
}

func (p *past) step(t *testing.T, c *Catalog, digests []digest.Digest) {
	t.Helper()
	var facts []Fact
	any := func() (entity int64) {
		all := slices.Sorted(maps.Keys(p.nodes))
		return all[p.random.IntN(len(all))]
	}
	switch n := p.random.IntN(10); {
	case n < 3 || len(p.nodes) == 0:
		facts = append(node(p.next, 0, fmt.Sprint("n", p.next)), Digest(p.next, AttributeDigest, digests[p.random.IntN(len(digests))]))
		p.nodes[p.next] = map[string]bool{}
		p.next++
	case n < 5:
		facts = []Fact{Digest(any(), AttributeDigest, digests[p.random.IntN(len(digests))])}
	case n < 6:
		e := any()
		facts = []Fact{String(e, AttributeName, fmt.Sprint("m", e, p.random.IntN(2)))}
	case n < 7:
		e := any()
		facts = []Fact{Retract(e, AttributeParent), Retract(e, AttributeName), Retract(e, AttributeDigest)}
		for _, name := range slices.Sorted(maps.Keys(p.nodes[e])) {
			facts = append(facts, Retract(e, name))
		}
		delete(p.nodes, e)
	case n < 9:
		e := any()
		name := []string{"color", "size"}[p.random.IntN(2)]
		if p.nodes[e][name] && p.random.IntN(2) == 0 {
			facts = []Fact{Retract(e, name)}
			delete(p.nodes[e], name)
		} else {
			facts = []Fact{Raw(e, name, fmt.Append(nil, p.random.IntN(9)))}
			p.nodes[e][name] = true
		}
	default:
		name := []string{"stardust/message", "stardust/tag/a"}[p.random.IntN(2)]
		if p.notes[name] && p.random.IntN(2) == 0 {
			facts = []Fact{Retract(Root, name)}
			delete(p.notes, name)
		} else {
			facts = []Fact{Raw(Root, name, fmt.Append(nil, p.random.IntN(9)))}
			p.notes[name] = true
		}
	}
	apply(t, c, p.next, facts...)
	p.ids = append(p.ids, p.next)
	p.next++
}

// stateAt describes all that a view of a revision shows.
func stateAt(t *testing.T, c *Catalog, at int64) string {
	t.Helper()
	var b strings.Builder
	read(t, c, at, func(v *View) error {
		var nodes []Node
		if err := v.Children(Root, "", func(n *Node) bool { nodes = append(nodes, *n); return true }); err != nil {
			return err
		}
		slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Entity, b.Entity) })
		nodes = append(nodes, Node{}) // the root's attributes
		for i := range nodes {
			fmt.Fprintf(&b, "%d %s %v r%d", nodes[i].Entity, nodes[i].Name, nodes[i].Digest[0], nodes[i].Revision)
			if err := v.Attributes(nodes[i].Entity, func(name string, value []byte) bool {
				fmt.Fprintf(&b, " %s=%s", name, value)
				return true
			}); err != nil {
				return err
			}
			b.WriteByte('\n')
		}
		return nil
	})
	return b.String()
}

// tables describes the rows of nodes, versions and attributes.
func tables(t *testing.T, c *Catalog) string {
	t.Helper()
	var b strings.Builder
	read(t, c, Live, func(v *View) error {
		for _, q := range []string{
			`SELECT entity, revision, until, removed, hex(name), payload FROM version ORDER BY entity, revision`,
			`SELECT entity, revision, parent, hex(name), payload, 0 FROM node ORDER BY entity`,
			`SELECT entity, hex(name), revision, until, hex(value), 0 FROM attribute ORDER BY entity, name, revision`,
		} {
			if err := v.conn.query(q, func(s *sqlite3.Stmt) (bool, error) {
				for i := range 6 {
					fmt.Fprint(&b, s.ColumnText(i), " ")
				}
				b.WriteByte('\n')
				return true, nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return b.String()
}

// TestWhatIsKeptStaysAsItWas forgets random revisions of random histories, again
// and again: every kept revision shows what it showed, every other one says that
// it was forgotten, the rows are clean, and the log that is left, applied anew,
// makes the same rows.
func TestWhatIsKeptStaysAsItWas(t *testing.T) {
	for seed := range uint64(15) {
		c := openTest(t)
		p := &past{rand.New(rand.NewPCG(seed, 7)), 1, map[int64]map[string]bool{}, map[string]bool{}, nil}
		var digests []digest.Digest
		for i := range byte(20) {
			digests = append(digests, publish(t, c, i+1))
		}
		unnamed := publish(t, c, 99)
		version := func() (n int64) {
			read(t, c, Live, func(v *View) (err error) { n, _, err = schemaOf(v.conn); return err })
			return n
		}
		if got := version(); got != schemaVersion {
			t.Fatalf("new tables have version %d", got)
		}
		want := map[int64]string{}
		for round := range 3 {
			for range 15 {
				p.step(t, c, digests)
				want[p.next-1] = stateAt(t, c, p.next-1)
			}
			var keep []int64
			for _, id := range slices.Sorted(maps.Keys(want)) {
				if id == p.next-1 || p.random.IntN(4) == 0 {
					keep = append(keep, id)
				} else {
					delete(want, id)
				}
			}
			var f *Forgetting
			write(t, c, func(tx *Tx) (err error) {
				if f, err = tx.Forgetting(keep); err == nil {
					err = tx.Forget(f)
				}
				return err
			})
			// Payloads that went are published again for the rounds to come.
			for i := range f.Payloads {
				publish(t, c, f.Payloads[i].Digest[0])
			}
			if got := version(); got != newestVersion {
				t.Fatalf("tables that forgot have version %d", got)
			}
			checkPast(t, c, p, want, fmt.Sprintf("seed %d, round %d", seed, round))
		}
		read(t, c, Live, func(v *View) error {
			if _, found, err := v.Payload(unnamed); !found {
				t.Errorf("a payload that was never named is gone: %v", err)
			}
			return nil
		})
		replayed(t, c, fmt.Sprintf("seed %d", seed))
	}
}

func checkPast(t *testing.T, c *Catalog, p *past, want map[int64]string, where string) {
	t.Helper()
	kept := slices.Sorted(maps.Keys(want))
	for id := int64(1); id < p.next; id++ {
		i, exact := slices.BinarySearch(kept, id)
		var forgotten *ForgottenError
		err := c.Read(t.Context(), id, func(*View) error { return nil })
		switch {
		case exact:
			if got := stateAt(t, c, id); got != want[id] {
				t.Fatalf("%s: revision %d shows\n%s, and showed\n%s", where, id, got, want[id])
			}
		case errors.As(err, &forgotten):
			before := int64(0)
			if i > 0 {
				before = kept[i-1]
			}
			if forgotten.Before != before || forgotten.After != kept[i] {
				t.Errorf("%s: of %d it says: %v", where, id, forgotten)
			}
		case err != nil:
			t.Fatal(err)
		case slices.Contains(p.ids, id):
			t.Fatalf("%s: revision %d was forgotten, and can be read", where, id)
		}
	}
	read(t, c, Live, func(v *View) error {
		if _, err := v.Check(t.Context(), func(err error) { t.Errorf("%s: %v", where, err) }); err != nil {
			return err
		}
		for _, id := range p.ids {
			got, found, err := v.RevisionAt(time.Unix(id, 0))
			_, kept := want[id]
			if forgotten := (*ForgottenError)(nil); errors.As(err, &forgotten) == kept || kept && (got != id || !found) {
				t.Errorf("%s: at the time of %d was %d, %v, %v", where, id, got, found, err)
			}
		}
		return nil
	})
}

// replayed applies the log to tables that have the payloads only.
func replayed(t *testing.T, c *Catalog, where string) {
	t.Helper()
	to := openTest(t)
	var log []*Transaction
	read(t, c, Live, func(v *View) error {
		var payloads []Payload
		if err := v.Payloads(0, func(p *Payload) bool { payloads = append(payloads, *p); return true }); err != nil {
			return err
		}
		write(t, to, func(tx *Tx) error {
			for i := range payloads {
				if err := tx.ReplayPayload(payloads[i].ID, payloads[i].Digest, 10, []Entry{{1, 10}}); err != nil {
					return err
				}
			}
			return nil
		})
		return v.Transactions(1, func(tr *Transaction) bool { log = append(log, tr); return true })
	})
	for _, tr := range log {
		write(t, to, func(tx *Tx) error { return tx.Apply(tr) })
	}
	if got, want := tables(t, to), tables(t, c); got != want {
		t.Errorf("%s: the log makes\n%s, the rows are\n%s", where, got, want)
	}
}

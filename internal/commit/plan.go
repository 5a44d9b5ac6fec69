package commit

import (
	"math"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// Plan is what a write works on: it sees the state that all earlier writes
// left, refuses, or collects facts. Nothing is applied until the write returns
// nil, so a refused write changes nothing. It is valid only within the call
// that received it.
//
// A plan sees the state before its own facts. Methods that plan several nodes
// make sure that these fit together; call one of them, once.
type Plan struct {
	tx    *catalog.Tx
	next  int64 // the next id of the one sequence of entities and transactions
	facts []catalog.Fact
	// replayed is the last transaction that was made elsewhere, or zero.
	replayed int64
}

// Tx returns the tables, to read them and to write what is not of the tree:
// rows of chunks and payloads.
func (p *Plan) Tx() *catalog.Tx { return p.tx }

// Next returns the next id of the one sequence.
func (p *Plan) Next() int64 { return p.next }

// Replay writes a transaction of another database under its own ids, which must
// lie beyond all that are in use. A plan that replays plans nothing else.
func (p *Plan) Replay(t *catalog.Transaction) error {
	if err := p.tx.Apply(t); err != nil {
		return err
	}
	p.replayed, p.next = t.ID, t.ID+1
	return nil
}

// newEntity takes the next id for an entity.
func (p *Plan) newEntity() int64 {
	id := p.next
	p.next++
	return id
}

// add collects facts.
func (p *Plan) add(facts ...catalog.Fact) { p.facts = append(p.facts, facts...) }

// transaction makes the commit of the collected facts, which takes the id
// after those of its new entities.
func (p *Plan) transaction(now time.Time) *catalog.Transaction {
	t := &catalog.Transaction{ID: p.next, Time: representable(now), Facts: p.facts}
	p.next++
	return t
}

// representable returns the nearest time that a record can hold, in UTC: from 1677
// to 2262.
func representable(t time.Time) time.Time {
	first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)
	switch {
	case t.Before(first):
		t = first
	case t.After(last):
		t = last
	}
	return t.UTC()
}

// expected returns the node of an entity, and refuses when it does not exist or
// its revision is not the expected one. Zero expects any.
func (p *Plan) expected(entity, revision int64) (catalog.Node, error) {
	n, err := tree.Node(&p.tx.View, entity)
	if err == nil && revision != 0 && revision != n.Revision {
		err = stale(&n, revision)
	}
	return n, err
}

func taken(parent int64, name string, other *catalog.Node) error {
	return tree.Refuse(tree.Taken, "name %s is taken in directory %d by entity %d", tree.Quote(name), parent, other.Entity)
}

func stale(n *catalog.Node, expected int64) error {
	return tree.Refuse(tree.Stale, "entity %d has revision %d, not %d; read it again and decide again",
		n.Entity, n.Revision, expected)
}

package stardust

import (
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
)

// planner is what a write runs on, inside the commit queue: it sees the state
// that all earlier writes left, refuses, or collects facts. Until it returns
// nil nothing of it is applied, so a refused write changes nothing.
type planner struct {
	tx    *catalog.Tx
	next  int64 // the next id of the one sequence of entities and transactions
	facts []catalog.Fact
}

// newEntity takes the next id for an entity.
func (p *planner) newEntity() int64 {
	id := p.next
	p.next++
	return id
}

// transaction makes the commit of the collected facts, which takes the id
// after those of its new entities.
func (p *planner) transaction(now time.Time) *catalog.Transaction {
	t := &catalog.Transaction{ID: p.next, Time: now.UTC(), Facts: p.facts}
	p.next++
	return t
}

// node returns the node of an entity, or not_found.
func (p *planner) node(entity int64) (catalog.Node, error) {
	n, found, err := p.tx.Node(entity)
	if err != nil {
		return n, err
	}
	if !found {
		return n, notFound("entity %d: no file or directory has it", entity)
	}
	return n, nil
}

// directory checks that an entity is a directory.
func (p *planner) directory(member string, entity int64) error {
	return checkDirectory(&p.tx.View, member, entity)
}

// freeName refuses a name that a child of parent has already.
func (p *planner) freeName(parent int64, name string) error {
	other, found, err := p.tx.Child(parent, name)
	if err != nil {
		return err
	}
	if found {
		return nameTaken(parent, name, &other)
	}
	return nil
}

// payload returns the published payload of a digest, or not_found.
func (p *planner) payload(member string, digest Digest) (catalog.Payload, error) {
	payload, found, err := p.tx.Payload(digest)
	if err == nil && !found {
		err = unpublished(member, digest)
	}
	return payload, err
}

// expect refuses a write when the node's revision is not the expected one.
// Zero skips the check.
func (p *planner) expect(n *catalog.Node, revision int64) error {
	if revision == 0 || revision == n.Revision {
		return nil
	}
	return conflict(CodeStaleRevision, "entity %d has revision %d, not %d; read it again and decide anew",
		n.Entity, n.Revision, revision)
}

func checkDirectory(v *catalog.View, member string, entity int64) error {
	if entity == catalog.Root {
		return nil
	}
	n, found, err := v.Node(entity)
	switch {
	case err != nil:
		return err
	case !found:
		return notFound("%s %d: no directory has this entity", member, entity)
	case n.File:
		return invalid("%s %d: is the file %s, not a directory", member, entity, shorten(n.Name))
	}
	return nil
}

func nameTaken(parent int64, name string, other *catalog.Node) *Error {
	return conflict(CodeNameTaken, "name %s is taken in directory %d by entity %d", shorten(name), parent, other.Entity)
}

func unpublished(member string, digest Digest) *Error {
	e := notFound("%s: no payload %v is published; upload it first", member, digest)
	e.Code = CodeUnpublished
	return e
}

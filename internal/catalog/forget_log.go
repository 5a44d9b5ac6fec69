package catalog

import (
	"bytes"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// rewriteLog leaves of every transaction what led to a version that stays.
// The rows of nodes, versions and attributes are as they will be.
func (t *Tx) rewriteLog(f *Forgetting) error {
	const page, pageFacts = 256, 16 << 10
	for next, more := int64(1), true; more; {
		var list []*Transaction
		facts := 0
		more = false
		err := t.Transactions(next, func(tr *Transaction) bool {
			list = append(list, tr)
			facts += len(tr.Facts)
			next = tr.ID + 1
			more = len(list) == page || facts >= pageFacts
			return !more
		})
		if err != nil {
			return err
		}
		for _, tr := range list {
			if err := t.rewrite(f, tr); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite leaves of a transaction what led to versions that stay.
func (t *Tx) rewrite(f *Forgetting, tr *Transaction) error {
	var facts []Fact
	touched := false
	for rest := tr.Facts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Entity == rest[0].Entity {
			n++
		}
		if entity := rest[0].Entity; f.affected[entity] {
			touched = true
			left, err := t.factsOf(entity, tr.ID)
			if err != nil {
				return err
			}
			facts = append(facts, left...)
		} else {
			facts = append(facts, rest[:n]...)
		}
		rest = rest[n:]
	}
	_, kept := slices.BinarySearch(f.keep, tr.ID)
	if len(facts) == 0 && !kept {
		f.Transactions++
		return t.conn.exec(`DELETE FROM log WHERE id = ?`, tr.ID)
	}
	if !touched {
		return nil
	}
	record := AppendRecord(nil, &Transaction{ID: tr.ID, Time: tr.Time, Facts: facts})
	if bytes.Equal(record, AppendRecord(nil, tr)) {
		return nil
	}
	record, err := t.keepRecord(record)
	if err != nil {
		return err
	}
	return t.conn.exec(`UPDATE log SET record = ?, crc = ? WHERE id = ?`, record, logSum(tr.ID, record).sum(), tr.ID)
}

// factsOf returns what a transaction did to an entity, by the rows that stay.
func (t *Tx) factsOf(entity, transaction int64) ([]Fact, error) {
	facts, name, err := t.nodeFacts(entity, transaction)
	if err != nil || name == "" && entity != Root {
		return nil, err
	}
	all, err := t.attributes(entity)
	for i, a := range all {
		if a.Revision == transaction {
			facts = append(facts, Raw(entity, a.Name, a.Value))
		}
		again := i+1 < len(all) && all[i+1].Name == a.Name && all[i+1].Revision == transaction
		if a.Until == transaction && !again {
			facts = append(facts, Retract(entity, a.Name))
		}
	}
	if len(facts) == 0 && entity != Root { // it is as it was, of another revision
		facts = append(facts, String(entity, AttributeName, name))
	}
	return facts, err
}

// nodeFacts returns the facts that make a node what it is from a transaction on,
// or end it, and its name, which is empty when nothing began or ended then.
func (t *Tx) nodeFacts(entity, transaction int64) (facts []Fact, name string, err error) {
	if entity == Root {
		return nil, "", nil
	}
	var before, now Version // the last one that began earlier, and the one that begins
	err = t.conn.query(`SELECT `+versionColumns+versionJoin+`WHERE n.entity = ? AND n.revision <= ? ORDER BY n.revision DESC LIMIT 2`,
		func(s *sqlite3.Stmt) (bool, error) {
			var v Version
			err := scanVersion(s, &v)
			if v.Revision == transaction {
				now = v
				return true, err
			}
			before = v
			return false, err
		}, entity, transaction)
	if err != nil {
		return nil, "", err
	}
	if now.Entity == 0 {
		n, found, err := t.Node(entity)
		if err != nil {
			return nil, "", err
		}
		if found && n.Revision == transaction {
			now.Node = n
		}
	}
	switch {
	case now.Entity != 0:
		return nodeChange(&before.Node, &now.Node), now.Name, nil
	case before.Entity != 0 && before.Removed && before.Until == transaction:
		facts = []Fact{Retract(entity, AttributeParent), Retract(entity, AttributeName)}
		if before.File {
			facts = append(facts, Retract(entity, AttributeDigest))
		}
		return facts, before.Name, nil
	}
	return nil, "", nil
}

// nodeChange returns the facts that make one version of a node out of the one
// before, which has no entity when there is none.
func nodeChange(before, now *Node) []Fact {
	var facts []Fact
	fresh := before.Entity == 0
	if fresh || before.Parent != now.Parent {
		facts = append(facts, Int64(now.Entity, AttributeParent, now.Parent))
	}
	if fresh || before.Name != now.Name {
		facts = append(facts, String(now.Entity, AttributeName, now.Name))
	}
	if now.File && (fresh || before.Digest != now.Digest) {
		facts = append(facts, Digest(now.Entity, AttributeDigest, now.Digest))
	}
	return facts
}

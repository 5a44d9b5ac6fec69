package catalog

import "github.com/ncruces/go-sqlite3"

// Apply writes a transaction to the tables: the log, the tree and its history.
// It trusts that the facts obey the tree's rules, which the caller checked in
// this Tx; what contradicts the tables is an error.
func (t *Tx) Apply(tr *Transaction) error {
	record, err := t.keepRecord(AppendRecord(nil, tr))
	if err != nil {
		return err
	}
	err = t.conn.exec(`INSERT INTO log(id, record, crc) VALUES(?, ?, ?)`,
		tr.ID, record, logSum(tr.ID, record).sum())
	if err != nil {
		return err
	}
	for facts := tr.Facts; len(facts) > 0; {
		n := 1
		for n < len(facts) && facts[n].Entity == facts[0].Entity {
			n++
		}
		if err := t.applyEntity(tr.ID, facts[0].Entity, facts[:n]); err != nil {
			return err
		}
		facts = facts[n:]
	}
	return nil
}

// keepRecord returns a record as the log keeps it. The first compressed one makes the
// tables ones of the newest version.
func (t *Tx) keepRecord(record []byte) ([]byte, error) {
	kept, err := t.conn.packer.packed(record)
	if err == nil && kept[0] == packedVersion {
		err = t.makeNewest()
	}
	return kept, err
}

// applyEntity applies the facts of one entity.
func (t *Tx) applyEntity(id, entity int64, facts []Fact) error {
	var old, now Node
	var existed, touched, removed bool
	load := func() (err error) {
		if !touched {
			old, existed, err = t.Node(entity)
			now, touched = old, true
		}
		return err
	}
	for i := range facts {
		f := &facts[i]
		if attributeCode(f.Attribute) == 0 {
			if err := t.applyAttribute(id, f); err != nil {
				return err
			}
			continue
		}
		if err := load(); err != nil {
			return err
		}
		if f.Value.Kind == Retracted {
			removed = true
			continue
		}
		if err := t.applyNodeFact(&now, f); err != nil {
			return err
		}
	}
	if !touched {
		return t.touch(id, entity)
	}
	if removed {
		return t.removeNode(id, &old, existed)
	}
	now.Entity, now.Revision = entity, id
	return t.putNode(&old, existed, &now)
}

// applyNodeFact sets what one of the tree's own attributes says.
func (t *Tx) applyNodeFact(n *Node, f *Fact) error {
	switch {
	case f.Attribute == AttributeParent && f.Value.Kind == Int:
		n.Parent = f.Value.Int
	case f.Attribute == AttributeName && f.Value.Kind == Text:
		n.Name = string(f.Value.Bytes)
	case f.Attribute == AttributeDigest && f.Value.Kind == DigestValue:
		p, found, err := t.Payload(f.Value.Digest)
		if err != nil {
			return err
		}
		if !found {
			return corrupt("entity %d: payload %v is not published", f.Entity, f.Value.Digest)
		}
		n.File, n.Payload, n.Size, n.Digest = true, p.ID, p.Size, p.Digest
	default:
		return corrupt("entity %d: attribute %s has a value of kind %d", f.Entity, f.Attribute, f.Value.Kind)
	}
	return nil
}

func (t *Tx) putNode(old *Node, existed bool, now *Node) error {
	if !existed {
		return t.conn.exec(`INSERT INTO node(entity, parent, name, payload, revision, crc) VALUES(?, ?, ?, ?, ?, ?)`,
			now.Entity, now.Parent, []byte(now.Name), payloadArg(now), now.Revision, now.sum().sum())
	}
	if err := t.keepVersion(old, now.Revision, false); err != nil {
		return err
	}
	return t.conn.exec(`UPDATE node SET parent = ?, name = ?, payload = ?, revision = ?, crc = ? WHERE entity = ?`,
		now.Parent, []byte(now.Name), payloadArg(now), now.Revision, now.sum().sum(), now.Entity)
}

func (t *Tx) removeNode(id int64, old *Node, existed bool) error {
	if !existed {
		return corrupt("entity to remove does not exist")
	}
	if err := t.keepVersion(old, id, true); err != nil {
		return err
	}
	return t.conn.exec(`DELETE FROM node WHERE entity = ?`, old.Entity)
}

// touch gives a node a new revision when only other attributes changed.
func (t *Tx) touch(id, entity int64) error {
	n, found, err := t.Node(entity)
	if err != nil || !found {
		return err
	}
	now := n
	now.Revision = id
	return t.putNode(&n, true, &now)
}

func (t *Tx) keepVersion(n *Node, until int64, removed bool) error {
	v := Version{*n, until, removed}
	flag := int64(0)
	if removed {
		flag = 1
	}
	return t.conn.exec(`INSERT INTO version(entity, revision, until, removed, parent, name, payload, crc)
		VALUES(?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Entity, v.Revision, v.Until, flag, v.Parent, []byte(v.Name), payloadArg(&v.Node), v.sum().sum())
}

func (t *Tx) applyAttribute(id int64, f *Fact) error {
	name := []byte(f.Attribute)
	var revision int64
	var value []byte
	found := false
	err := t.conn.query(`SELECT revision, value FROM attribute WHERE entity = ? AND name = ? AND until = ?`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			revision = s.ColumnInt64(0)
			value = append(value, s.ColumnRawBlob(1)...)
			return false, nil
		}, f.Entity, name, forever)
	if err != nil {
		return err
	}
	if found {
		err = t.conn.exec(`UPDATE attribute SET until = ?, crc = ? WHERE entity = ? AND name = ? AND revision = ?`,
			id, attributeSum(f.Entity, revision, id, f.Attribute, value).sum(), f.Entity, name, revision)
		if err != nil {
			return err
		}
	}
	switch f.Value.Kind {
	case Retracted:
		return nil
	case JSON:
		return t.conn.exec(`INSERT INTO attribute(entity, name, revision, until, value, crc) VALUES(?, ?, ?, ?, ?, ?)`,
			f.Entity, name, id, forever, f.Value.Bytes,
			attributeSum(f.Entity, id, forever, f.Attribute, f.Value.Bytes).sum())
	}
	return corrupt("entity %d: attribute %s has a value of kind %d", f.Entity, f.Attribute, f.Value.Kind)
}

package catalog

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// LastRevision returns the id of the newest transaction, zero when there is
// none. A view of the past returns its own revision.
func (v *View) LastRevision() (int64, error) {
	if v.at != Live {
		return v.at, nil
	}
	return v.conn.number(`SELECT id FROM log ORDER BY id DESC LIMIT 1`)
}

// History calls fn with the versions of a node, the oldest first, until fn
// returns false.
func (v *View) History(entity int64, fn func(*Version) bool) error {
	more := true
	err := v.conn.query(`SELECT `+versionColumns+versionJoin+
		`WHERE n.entity = ?1 AND n.revision <= ?2 ORDER BY n.revision`,
		func(s *sqlite3.Stmt) (bool, error) {
			var old Version
			if err := scanVersion(s, &old); err != nil {
				return false, err
			}
			if old.Until > v.at {
				old.Until, old.Removed = 0, false
			}
			more = fn(&old)
			return more, nil
		}, entity, v.at)
	if err != nil || !more {
		return err
	}
	return v.conn.query(`SELECT `+nodeColumns+nodeJoin+`WHERE n.entity = ?1 AND n.revision <= ?2`,
		func(s *sqlite3.Stmt) (bool, error) {
			var now Version
			if err := scanNode(s, &now.Node); err != nil {
				return false, err
			}
			return fn(&now), nil
		}, entity, v.at)
}

// Transactions calls fn with the transactions whose id is at least from, in
// order, until fn returns false.
func (v *View) Transactions(from int64, fn func(*Transaction) bool) error {
	return v.conn.query(`SELECT `+logColumns+` FROM log WHERE id >= ?1 AND id <= ?2 ORDER BY id`,
		func(s *sqlite3.Stmt) (bool, error) {
			id, record, err := v.conn.scanLog(s)
			if err != nil {
				return false, err
			}
			t, err := DecodeRecord(record)
			if err != nil {
				return false, err
			}
			if t.ID != id {
				return false, corrupt("transaction %d: its record says %d", id, t.ID)
			}
			return fn(t), nil
		}, from, v.at)
}

// Attributes calls fn with an entity's attributes beyond the tree's own, in
// name order, until fn returns false. The value is compact JSON, and the caller's.
func (v *View) Attributes(entity int64, fn func(name string, value []byte) bool) error {
	at := min(v.at, forever-1)
	return v.conn.query(`SELECT `+attributeColumns+` FROM attribute
		WHERE entity = ?1 AND revision <= ?2 AND until > ?2 ORDER BY name`,
		func(s *sqlite3.Stmt) (bool, error) {
			a, err := scanAttribute(s, entity)
			return err == nil && fn(a.Name, a.Value), err
		}, entity, at)
}

// Attribute returns the value of one of an entity's attributes beyond the tree's own;
// nil when it has none of that name.
func (v *View) Attribute(entity int64, name string) (value []byte, err error) {
	err = v.Attributes(entity, func(n string, text []byte) bool {
		if n == name {
			value = text
		}
		return n < name
	})
	return value, err
}

const logColumns = `id, record, crc`

// scanLog reads a row of the log. The record is as it was written, and may share
// memory with the row.
func (c *conn) scanLog(s *sqlite3.Stmt) (id int64, record []byte, err error) {
	id, kept := s.ColumnInt64(0), s.ColumnRawBlob(1)
	if logSum(id, kept).sum() != s.ColumnInt64(2) {
		return id, nil, corrupt("transaction %d: row checksum differs", id)
	}
	if record, err = c.packer.record(kept); err != nil {
		err = fmt.Errorf("transaction %d: %w", id, err)
	}
	return id, record, err
}

func logSum(id int64, record []byte) *rowsum { return newRowsum('l').ints(id).bytes(record) }

const attributeColumns = `name, revision, until, value, crc`

func scanAttribute(s *sqlite3.Stmt, entity int64) (a AttributeRow, err error) {
	a = AttributeRow{
		Name: string(s.ColumnRawBlob(0)), Revision: s.ColumnInt64(1), Until: s.ColumnInt64(2),
		Value: append([]byte(nil), s.ColumnRawBlob(3)...),
	}
	if attributeSum(entity, a.Revision, a.Until, a.Name, a.Value).sum() != s.ColumnInt64(4) {
		err = corrupt("attribute %q of entity %d: row checksum differs", a.Name, entity)
	}
	return a, err
}

func attributeSum(entity, revision, until int64, name string, value []byte) *rowsum {
	return newRowsum('a').ints(entity, revision, until).text(name).bytes(value)
}

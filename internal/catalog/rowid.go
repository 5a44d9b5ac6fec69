package catalog

import "github.com/ncruces/go-sqlite3"

// rowKind tells tables apart whose rows have ids of their own.
type rowKind int64

// The kinds are in the file: they never change.
const (
	kindChunk rowKind = iota + 1
	kindPayload
)

// nextRow returns an id that no row has or ever had, since caches and streams
// identify chunks by it. The query gives the largest id in use.
func (t *Tx) nextRow(kind rowKind, query string) (int64, error) {
	last, err := t.conn.number(query)
	if err != nil {
		return 0, err
	}
	removed, err := t.removedRow(kind)
	return max(last, removed) + 1, err
}

// removedRow returns the largest id of a row that was removed, or 0.
func (t *Tx) removedRow(kind rowKind) (id int64, err error) {
	err = t.conn.query(`SELECT id, crc FROM removed WHERE kind = ?`, func(s *sqlite3.Stmt) (bool, error) {
		id = s.ColumnInt64(0)
		if removedSum(kind, id).sum() != s.ColumnInt64(1) {
			return false, corrupt("largest removed row of kind %d: row checksum differs", kind)
		}
		return false, nil
	}, int64(kind))
	return id, err
}

func removedSum(kind rowKind, id int64) *rowsum { return newRowsum('r').ints(int64(kind), id) }

// removeRow notes that the row of an id is about to go, before a statement
// removes it.
func (t *Tx) removeRow(kind rowKind, id int64) error {
	largest, err := t.removedRow(kind)
	if err != nil || largest >= id {
		return err
	}
	return t.conn.exec(`INSERT OR REPLACE INTO removed(kind, id, crc) VALUES(?, ?, ?)`,
		int64(kind), id, removedSum(kind, id).sum())
}

// DropChunk removes a chunk's row. No manifest may name it. Its id is not used
// again.
func (t *Tx) DropChunk(id int64) error {
	if err := t.removeRow(kindChunk, id); err != nil {
		return err
	}
	return t.conn.exec(`DELETE FROM chunk WHERE id = ?`, id)
}

// DropPayload removes a payload's row and its manifest. No node or version may
// name it. Its id is not used again.
func (t *Tx) DropPayload(id int64) error {
	if err := t.removeRow(kindPayload, id); err != nil {
		return err
	}
	if err := t.conn.exec(`DELETE FROM manifest WHERE payload = ?`, id); err != nil {
		return err
	}
	return t.conn.exec(`DELETE FROM payload WHERE id = ?`, id)
}

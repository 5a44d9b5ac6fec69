package catalog

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// Position says how far tables reach: the largest id of each kind of row,
// removed ones included. Zero stands for none.
type Position struct {
	Transaction, Chunk, Payload int64
}

// Position returns how far the tables have come.
func (v *View) Position() (p Position, err error) {
	if p.Transaction, err = v.conn.number(`SELECT max(id) FROM log`); err != nil {
		return p, err
	}
	if p.Chunk, err = v.conn.number(`SELECT max(id) FROM chunk`); err != nil {
		return p, err
	}
	if p.Payload, err = v.conn.number(`SELECT max(id) FROM payload`); err != nil {
		return p, err
	}
	if there, err := v.hasTable(`removed`); err != nil || !there {
		return p, err
	}
	tx := Tx{*v} // it only reads
	chunk, err := tx.removedRow(kindChunk)
	if err != nil {
		return p, err
	}
	payload, err := tx.removedRow(kindPayload)
	p.Chunk, p.Payload = max(p.Chunk, chunk), max(p.Payload, payload)
	return p, err
}

func (v *View) hasTable(name string) (there bool, err error) {
	err = v.conn.query(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND CAST(name AS BLOB) = ?`,
		func(*sqlite3.Stmt) (bool, error) { there = true; return false, nil }, []byte(name))
	return there, err
}

// Records calls fn with the encoded transactions whose id is at least from, in
// order, until fn returns false. A record is valid within the call.
func (v *View) Records(from int64, fn func(id int64, record []byte) bool) error {
	return v.conn.query(`SELECT `+logColumns+` FROM log WHERE id >= ?1 AND id <= ?2 ORDER BY id`,
		func(s *sqlite3.Stmt) (bool, error) {
			id, record, err := v.conn.scanLog(s)
			if err != nil {
				return false, err
			}
			return fn(id, record), nil
		}, from, v.at)
}

// FindChunk returns a chunk by row id, and whether there is one.
func (v *View) FindChunk(id int64) (c Chunk, found bool, err error) {
	err = v.Chunks(id-1, func(at *Chunk) bool {
		c, found = *at, at.ID == id
		return false
	})
	return c, found, err
}

// FindPayload returns a payload by row id, and whether there is one.
func (v *View) FindPayload(id int64) (p Payload, found bool, err error) {
	err = v.Payloads(id-1, func(at *Payload) bool {
		p, found = *at, at.ID == id
		return false
	})
	return p, found, err
}

// ReplayPayload publishes a payload under the row id that it has elsewhere.
func (t *Tx) ReplayPayload(id int64, d digest.Digest, size int64, entries []Entry) error {
	p := Payload{ID: id, Digest: d, Size: size}
	return t.putPayload(&p, func(yield func(Entry) bool) {
		for _, e := range entries {
			if !yield(e) {
				return
			}
		}
	})
}

// SkipTo makes the ids of the next chunks and payloads lie beyond a position,
// as if rows up to it had existed and been removed.
func (t *Tx) SkipTo(to Position) error {
	at, err := t.Position()
	if err == nil && at.Chunk < to.Chunk {
		err = t.removeRow(kindChunk, to.Chunk)
	}
	if err == nil && at.Payload < to.Payload {
		err = t.removeRow(kindPayload, to.Payload)
	}
	return err
}

// Origin names the database of which the tables are a replica.
type Origin struct {
	URL      string
	Identity [16]byte
}

func (o *Origin) sum() *rowsum { return newRowsum('o').text(o.URL).bytes(o.Identity[:]) }

// Origin returns the database of which the tables are a replica, and whether they
// are one.
func (v *View) Origin() (o Origin, found bool, err error) {
	if there, err := v.hasTable(`origin`); err != nil || !there {
		return o, false, err
	}
	err = v.conn.query(`SELECT url, identity, crc FROM origin WHERE id = 1`, func(s *sqlite3.Stmt) (bool, error) {
		found = true
		o.URL = string(s.ColumnRawBlob(0))
		if n := copy(o.Identity[:], s.ColumnRawBlob(1)); n != len(o.Identity) || o.sum().sum() != s.ColumnInt64(2) {
			return false, corrupt("origin: row checksum differs")
		}
		return false, nil
	})
	return o, found, err
}

// SetOrigin notes of which database the tables are a replica.
func (t *Tx) SetOrigin(o Origin) error {
	err := t.conn.sq.Exec(`CREATE TABLE IF NOT EXISTS origin(
		id       INTEGER PRIMARY KEY,
		url      BLOB NOT NULL,
		identity BLOB NOT NULL,
		crc      INTEGER NOT NULL
	) STRICT`)
	if err != nil {
		return translate(err)
	}
	return t.conn.exec(`INSERT OR REPLACE INTO origin(id, url, identity, crc) VALUES(1, ?, ?, ?)`,
		[]byte(o.URL), o.Identity[:], o.sum().sum())
}

package catalog

import (
	"crypto/sha256"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// RecordDigest returns the SHA-256 of the beginning of a transaction's record,
// its id and time, and whether there is such a transaction. It distinguishes
// histories that diverged after a copy. The facts are left out, since some may
// be forgotten.
func (v *View) RecordDigest(id int64) (d digest.Digest, found bool, err error) {
	err = v.conn.query(`SELECT record FROM log WHERE id = ?1 AND id <= ?2`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			head, _ := splitRecord(s.ColumnRawBlob(0))
			d = sha256.Sum256(head[min(1, len(head)):]) // without the version
			return false, nil
		}, id, v.at)
	return d, found, err
}

// TransactionsAfter returns how many transactions are later than a revision.
func (v *View) TransactionsAfter(revision int64) (int64, error) {
	return v.conn.number(`SELECT count(*) FROM log WHERE id > ?1 AND id <= ?2`, revision, v.at)
}

// Times calls fn with the transactions' ids and times, the last one first, until
// fn returns false.
func (v *View) Times(fn func(id int64, at time.Time) bool) error {
	const header int64 = 32 // more than what comes before the facts
	return v.conn.query(`SELECT id, substr(record, 1, ?1) FROM log WHERE id <= ?2 ORDER BY id DESC`,
		func(s *sqlite3.Stmt) (bool, error) {
			d := recordDecoder{b: append([]byte(nil), s.ColumnRawBlob(1)...)}
			version, id := d.byte(), int64(d.uvarint())
			at := d.varint()
			if d.bad || version != recordVersion && version != packedVersion || id != s.ColumnInt64(0) {
				return false, corrupt("transaction %d: its record is not one", s.ColumnInt64(0))
			}
			return fn(id, time.Unix(0, at)), nil
		}, header, v.at)
}

// TouchedAfter reports whether a transaction after a revision is about a node,
// not only about the database.
func (v *View) TouchedAfter(revision int64) (touched bool, err error) {
	err = v.Transactions(revision+1, func(t *Transaction) bool {
		for i := range t.Facts {
			touched = touched || t.Facts[i].Entity != Root
		}
		return !touched
	})
	return touched, err
}

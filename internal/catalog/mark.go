package catalog

import (
	"crypto/sha256"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// RecordDigest returns the SHA-256 of a transaction's record, by which histories
// that went apart after a copy are told from each other, and whether there is
// such a transaction.
func (v *View) RecordDigest(id int64) (d digest.Digest, found bool, err error) {
	err = v.conn.query(`SELECT record FROM log WHERE id = ?1 AND id <= ?2`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			d = sha256.Sum256(s.ColumnRawBlob(0))
			return false, nil
		}, id, v.at)
	return d, found, err
}

// TransactionsAfter returns how many transactions are later than a revision.
func (v *View) TransactionsAfter(revision int64) (n int64, err error) {
	err = v.conn.query(`SELECT count(*) FROM log WHERE id > ?1 AND id <= ?2`,
		func(s *sqlite3.Stmt) (bool, error) {
			n = s.ColumnInt64(0)
			return false, nil
		}, revision, v.at)
	return n, err
}

package catalog

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// Chunk is a stored piece of payloads.
type Chunk struct {
	ID     int64 // row id
	Digest digest.Digest
	Offset int64 // of its record in the file
	Size   int64 // in bytes
	// Stored is how many bytes the record has for them: Size, or fewer when they
	// are compressed.
	Stored int64
}

// sizeBits is how many bits of the column size are the chunk's size. The bits above
// are Stored when that is less, and otherwise zeros, as in all rows of tables before
// version 3.
const (
	sizeBits = 32
	sizeMask = 1<<sizeBits - 1
)

// sizes returns the column size.
func (c *Chunk) sizes() int64 {
	if c.Stored == c.Size {
		return c.Size
	}
	return c.Stored<<sizeBits | c.Size
}

// setSizes is the reverse of sizes, and reports whether these can be sizes.
func (c *Chunk) setSizes(column int64) bool {
	c.Size, c.Stored = column&sizeMask, column>>sizeBits
	if c.Stored == 0 {
		c.Stored = c.Size
		return c.Size > 0
	}
	return column > 0 && c.Stored < c.Size
}

func (c *Chunk) sum() *rowsum {
	return newRowsum('c').ints(c.ID, c.Offset, c.sizes()).bytes(c.Digest[:])
}

const chunkColumns = `id, digest, offset, size, crc`

func scanChunk(s *sqlite3.Stmt, c *Chunk) error {
	c.ID = s.ColumnInt64(0)
	digest := s.ColumnRawBlob(1)
	if len(digest) != 32 {
		return corrupt("chunk row %d: digest of %d bytes", c.ID, len(digest))
	}
	copy(c.Digest[:], digest)
	c.Offset = s.ColumnInt64(2)
	if !c.setSizes(s.ColumnInt64(3)) || c.sum().sum() != s.ColumnInt64(4) || c.Offset < 0 {
		return corrupt("chunk row %d: row checksum differs", c.ID)
	}
	return nil
}

// ChunkTotals are sums over all stored chunks.
type ChunkTotals struct {
	Chunks int64
	Bytes  int64 // that they have
	Stored int64 // bytes that are kept of them
}

// ChunkTotals returns the sums over all stored chunks.
func (v *View) ChunkTotals() (t ChunkTotals, err error) {
	err = v.conn.query(`SELECT count(*), coalesce(sum(size & 0xFFFFFFFF), 0),
		coalesce(sum(CASE size >> 32 WHEN 0 THEN size ELSE size >> 32 END), 0) FROM chunk`,
		func(s *sqlite3.Stmt) (bool, error) {
			t = ChunkTotals{s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2)}
			return false, nil
		})
	return t, err
}

// PutChunk adds a chunk's row and sets its ID.
func (t *Tx) PutChunk(c *Chunk) error {
	id, err := t.nextRow(kindChunk, `SELECT max(id) FROM chunk`)
	if err != nil {
		return err
	}
	c.ID = id
	return t.ReplayChunk(c)
}

// ReplayChunk adds a chunk's row under the id that it has elsewhere.
func (t *Tx) ReplayChunk(c *Chunk) error {
	if err := t.allow(c); err != nil {
		return err
	}
	return t.conn.exec(`INSERT INTO chunk(id, digest, offset, size, crc) VALUES(?, ?, ?, ?, ?)`,
		c.ID, c.Digest[:], c.Offset, c.sizes(), c.sum().sum())
}

// MoveChunk points a chunk's row at another record of the same bytes, of which that
// one has stored.
func (t *Tx) MoveChunk(id, offset, stored int64) error {
	c, err := t.Chunk(id)
	if err != nil {
		return err
	}
	c.Offset, c.Stored = offset, stored
	if err := t.allow(&c); err != nil {
		return err
	}
	return t.conn.exec(`UPDATE chunk SET offset = ?, size = ?, crc = ? WHERE id = ?`, offset, c.sizes(), c.sum().sum(), id)
}

// allow makes the tables ones of version 3 before the first compressed chunk is
// named: older software must not take them for its own.
func (t *Tx) allow(c *Chunk) error {
	if c.Size < 0 || c.Size > sizeMask || c.Stored <= 0 || c.Stored > c.Size {
		return corrupt("chunk %v of %d bytes cannot have %d stored", c.Digest, c.Size, c.Stored)
	}
	if c.Stored == c.Size {
		return nil
	}
	return t.makeNewest()
}

// makeNewest makes the tables ones of the newest version.
func (t *Tx) makeNewest() error {
	version, err := t.conn.version()
	if err != nil || version >= newestVersion {
		return err
	}
	return translate(t.conn.sq.Exec(setNewestVersion))
}

package catalog

import (
	"math"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// Live is the revision of a View that shows the latest state.
const Live int64 = math.MaxInt64

// View reads the tables, as of a revision or [Live]. It belongs to one
// goroutine and is valid only within the call that received it.
type View struct {
	conn *conn
	at   int64
}

// Node returns the node of an entity, and whether there is one.
func (v *View) Node(entity int64) (n Node, found bool, err error) {
	scan := func(s *sqlite3.Stmt) (bool, error) {
		found = true
		return false, scanNode(s, &n)
	}
	err = v.conn.query(`SELECT `+nodeColumns+nodeJoin+`WHERE n.entity = ?`, scan, entity)
	if err != nil || v.at == Live || found && n.Revision <= v.at {
		return n, found, err
	}
	// The present node is newer than the view, or no longer exists.
	found = false
	var old Version
	err = v.conn.query(`SELECT `+versionColumns+versionJoin+
		`WHERE n.entity = ?1 AND n.revision <= ?2 ORDER BY n.revision DESC LIMIT 1`,
		func(s *sqlite3.Stmt) (bool, error) {
			err := scanVersion(s, &old)
			found = old.Until > v.at
			return false, err
		}, entity, v.at)
	return old.Node, found, err
}

// Child returns a directory's child by name, and whether there is one.
func (v *View) Child(parent int64, name string) (n Node, found bool, err error) {
	err = v.conn.query(`SELECT `+nodeColumns+nodeJoin+`WHERE n.parent = ? AND n.name = ?`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			return false, scanNode(s, &n)
		}, parent, []byte(name))
	if err != nil || v.at == Live || found && n.Revision <= v.at {
		return n, found, err
	}
	found = false
	var old Version
	err = v.conn.query(`SELECT `+versionColumns+versionJoin+
		`WHERE n.parent = ?1 AND n.name = ?2 AND n.revision <= ?3 AND n.until > ?3
		ORDER BY n.revision DESC LIMIT 1`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			return false, scanVersion(s, &old)
		}, parent, []byte(name), v.at)
	return old.Node, found, err
}

// Children calls fn with the children of a directory whose names sort after
// the given one, in name order, until fn returns false.
func (v *View) Children(parent int64, after string, fn func(*Node) bool) error {
	if v.at == Live {
		var n Node
		return v.conn.query(`SELECT `+nodeColumns+nodeJoin+
			`WHERE n.parent = ? AND n.name > ? ORDER BY n.name`,
			func(s *sqlite3.Stmt) (bool, error) {
				if err := scanNode(s, &n); err != nil {
					return false, err
				}
				return fn(&n), nil
			}, parent, []byte(after))
	}
	// A compound's own ORDER BY merges the two, each in index order, so a
	// page costs no more than a page.
	return v.conn.query(`SELECT `+nodeColumns+`, NULL, NULL`+nodeJoin+
		`WHERE n.parent = ?1 AND n.name > ?2 AND n.revision <= ?3
		UNION ALL SELECT `+versionColumns+versionJoin+
		`WHERE n.parent = ?1 AND n.name > ?2 AND n.revision <= ?3 AND n.until > ?3
		ORDER BY 4`,
		func(s *sqlite3.Stmt) (bool, error) {
			var old Version
			var err error
			if s.ColumnType(11) == sqlite3.NULL {
				err = scanNode(s, &old.Node)
			} else {
				err = scanVersion(s, &old)
			}
			if err != nil {
				return false, err
			}
			return fn(&old.Node), nil
		}, parent, []byte(after), v.at)
}

// HasChildren reports whether a directory has any child.
func (v *View) HasChildren(parent int64) (bool, error) {
	found := false
	err := v.Children(parent, "", func(*Node) bool { found = true; return false })
	return found, err
}

// Files calls fn with the entities of the files that hold a payload, ascending
// and greater than after, until fn returns false.
func (v *View) Files(payload, after int64, fn func(entity int64) bool) error {
	row := func(s *sqlite3.Stmt) (bool, error) { return fn(s.ColumnInt64(0)), nil }
	if v.at == Live {
		return v.conn.query(`SELECT entity FROM node WHERE payload = ? AND entity > ? ORDER BY entity`,
			row, payload, after)
	}
	return v.conn.query(`SELECT entity FROM node
			WHERE payload = ?1 AND entity > ?2 AND revision <= ?3
		UNION ALL SELECT entity FROM version
			WHERE payload = ?1 AND entity > ?2 AND revision <= ?3 AND until > ?3
		ORDER BY entity`, row, payload, after, v.at)
}

// Payload returns a published payload by digest, and whether there is one.
// Payloads have no versions: a view of the past finds later ones too.
func (v *View) Payload(digest digest.Digest) (p Payload, found bool, err error) {
	err = v.conn.query(`SELECT `+payloadColumns+` FROM payload WHERE digest = ?`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			p.ID = s.ColumnInt64(5)
			return false, scanPayload(s, &p, 0)
		}, digest[:])
	if found && err == nil && p.Digest != digest {
		err = corrupt("payload row %d: the index names another digest", p.ID)
	}
	return p, found, err
}

// Payloads calls fn with every payload of a row id greater than after,
// ascending, until fn returns false.
func (v *View) Payloads(after int64, fn func(*Payload) bool) error {
	return v.conn.query(`SELECT `+payloadColumns+` FROM payload WHERE id > ? ORDER BY id`,
		func(s *sqlite3.Stmt) (bool, error) {
			p := Payload{ID: s.ColumnInt64(5)}
			if err := scanPayload(s, &p, 0); err != nil {
				return false, err
			}
			return fn(&p), nil
		}, after)
}

// Segment returns the run of a payload's manifest that holds the byte at
// offset, or an error that wraps ErrCorrupt.
func (v *View) Segment(p *Payload, offset int64) (*Segment, error) {
	if p.Chunks == 1 && p.Chunk != 0 {
		return &Segment{Entries: []Entry{{p.Chunk, p.Size}}}, nil
	}
	var segment *Segment
	err := v.conn.query(`SELECT start, entries, crc FROM manifest
		WHERE payload = ? AND start <= ? ORDER BY start DESC LIMIT 1`,
		func(s *sqlite3.Stmt) (bool, error) {
			start, entries := s.ColumnInt64(0), s.ColumnRawBlob(1)
			if segmentSum(p.ID, start, entries).sum() != s.ColumnInt64(2) {
				return false, corrupt("manifest of payload row %d: row checksum differs", p.ID)
			}
			decoded, err := decodeEntries(entries, start)
			segment = &Segment{start, decoded}
			return false, err
		}, p.ID, offset)
	if err != nil {
		return nil, err
	}
	if segment == nil || segment.End() <= offset || segment.End() > p.Size {
		return nil, corrupt("manifest of payload row %d: no chunk holds byte %d of %d", p.ID, offset, p.Size)
	}
	return segment, nil
}

// Chunk returns a chunk by row id. A missing one is corruption.
func (v *View) Chunk(id int64) (Chunk, error) {
	var c Chunk
	found := false
	err := v.conn.query(`SELECT `+chunkColumns+` FROM chunk WHERE id = ?`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			return false, scanChunk(s, &c)
		}, id)
	if err == nil && !found {
		err = corrupt("chunk row %d is missing", id)
	}
	return c, err
}

// ChunkByDigest returns a chunk by digest, and whether it is stored.
func (v *View) ChunkByDigest(digest digest.Digest) (c Chunk, found bool, err error) {
	err = v.conn.query(`SELECT `+chunkColumns+` FROM chunk WHERE digest = ?`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			return false, scanChunk(s, &c)
		}, digest[:])
	if found && err == nil && c.Digest != digest {
		err = corrupt("chunk row %d: the index names another digest", c.ID)
	}
	return c, found, err
}

// Chunks calls fn with every stored chunk of a row id greater than after,
// ascending, until fn returns false.
func (v *View) Chunks(after int64, fn func(*Chunk) bool) error {
	var c Chunk
	return v.conn.query(`SELECT `+chunkColumns+` FROM chunk WHERE id > ? ORDER BY id`,
		func(s *sqlite3.Stmt) (bool, error) {
			if err := scanChunk(s, &c); err != nil {
				return false, err
			}
			return fn(&c), nil
		}, after)
}

// NewestChunks calls fn with the stored chunks, the last one first, until fn
// returns false.
func (v *View) NewestChunks(fn func(*Chunk) bool) error {
	var c Chunk
	return v.conn.query(`SELECT `+chunkColumns+` FROM chunk ORDER BY id DESC`,
		func(s *sqlite3.Stmt) (bool, error) {
			if err := scanChunk(s, &c); err != nil {
				return false, err
			}
			return fn(&c), nil
		})
}

// PayloadTotals returns how many payloads are published, and their bytes.
func (v *View) PayloadTotals() (payloads, bytes int64, err error) {
	err = v.conn.query(`SELECT count(*), coalesce(sum(size), 0) FROM payload`,
		func(s *sqlite3.Stmt) (bool, error) {
			payloads, bytes = s.ColumnInt64(0), s.ColumnInt64(1)
			return false, nil
		})
	return payloads, bytes, err
}

// NodeTotals returns how many files and directories the live tree has.
func (v *View) NodeTotals() (files, directories int64, err error) {
	err = v.conn.query(`SELECT count(payload), count(*) - count(payload) FROM node`,
		func(s *sqlite3.Stmt) (bool, error) {
			files, directories = s.ColumnInt64(0), s.ColumnInt64(1)
			return false, nil
		})
	return files, directories, err
}

// CopyTo copies all tables, as the view sees them, over those of another
// database.
func (v *View) CopyTo(dsn string) error {
	return translate(v.conn.sq.Backup("main", dsn))
}

// LastChunk returns the chunk whose record lies furthest in the file.
func (v *View) LastChunk() (c Chunk, found bool, err error) {
	err = v.conn.query(`SELECT `+chunkColumns+` FROM chunk ORDER BY offset DESC LIMIT 1`,
		func(s *sqlite3.Stmt) (bool, error) {
			found = true
			return false, scanChunk(s, &c)
		})
	return c, found, err
}

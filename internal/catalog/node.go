package catalog

import (
	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// Root is the entity of the root directory, which is never stored.
const Root int64 = 0

// Node is a file or directory of the tree.
type Node struct {
	Entity   int64
	Parent   int64
	Revision int64 // the transaction that last changed it
	Name     string
	// File says whether the node is a file; Payload, Size and Digest are then set.
	File    bool
	Payload int64 // row id of the payload
	Size    int64
	Digest  digest.Digest
}

// Version is a node as it was from its Revision until, but not including, Until.
type Version struct {
	Node
	Until   int64 // zero when it is still so
	Removed bool  // Until removed the node, rather than changed it
}

func (n *Node) sum() *rowsum {
	return newRowsum('n').ints(n.Entity, n.Parent, n.Revision, payloadColumn(n)).text(n.Name)
}

func (v *Version) sum() *rowsum {
	removed := int64(0)
	if v.Removed {
		removed = 1
	}
	return newRowsum('v').ints(v.Entity, v.Parent, v.Revision, payloadColumn(&v.Node), v.Until, removed).
		text(v.Name)
}

// payloadColumn is -1 for a directory, whose column is NULL.
func payloadColumn(n *Node) int64 {
	if !n.File {
		return -1
	}
	return n.Payload
}

func payloadArg(n *Node) any {
	if !n.File {
		return nil
	}
	return n.Payload
}

// nodeColumns are the columns that scanNode reads, from tables n and p.
const nodeColumns = `n.entity, n.parent, n.revision, n.name, n.payload, n.crc,
	p.digest, p.size, p.chunks, p.chunk, p.crc`

const nodeJoin = ` FROM node n LEFT JOIN payload p ON p.id = n.payload `

// scanNode reads a row of nodeColumns and checks both rows' checksums.
func scanNode(s *sqlite3.Stmt, n *Node) error {
	crc := scanNodeRow(s, n)
	if n.sum().sum() != crc {
		return corrupt("node %d: row checksum differs", n.Entity)
	}
	return scanNodePayload(s, n, 6)
}

// scanNodeRow reads the first six of nodeColumns and returns the row's checksum.
func scanNodeRow(s *sqlite3.Stmt, n *Node) int64 {
	n.Entity = s.ColumnInt64(0)
	n.Parent = s.ColumnInt64(1)
	n.Revision = s.ColumnInt64(2)
	n.Name = string(s.ColumnRawBlob(3))
	n.File = s.ColumnType(4) != sqlite3.NULL
	n.Payload = s.ColumnInt64(4)
	return s.ColumnInt64(5)
}

// scanNodePayload reads the payload's columns, the first at column i.
func scanNodePayload(s *sqlite3.Stmt, n *Node, i int) error {
	if !n.File {
		return nil
	}
	if s.ColumnType(i) == sqlite3.NULL {
		return corrupt("node %d: names payload row %d, which is missing", n.Entity, n.Payload)
	}
	p := Payload{ID: n.Payload}
	if err := scanPayload(s, &p, i); err != nil {
		return err
	}
	n.Size, n.Digest = p.Size, p.Digest
	return nil
}

const versionColumns = `n.entity, n.parent, n.revision, n.name, n.payload, n.crc,
	p.digest, p.size, p.chunks, p.chunk, p.crc, n.until, n.removed`

const versionJoin = ` FROM version n LEFT JOIN payload p ON p.id = n.payload `

// scanVersion reads a row of versionColumns and checks both rows' checksums.
func scanVersion(s *sqlite3.Stmt, v *Version) error {
	crc := scanNodeRow(s, &v.Node)
	v.Until = s.ColumnInt64(11)
	v.Removed = s.ColumnInt64(12) != 0
	if v.sum().sum() != crc {
		return corrupt("version %d of node %d: row checksum differs", v.Revision, v.Entity)
	}
	return scanNodePayload(s, &v.Node, 6)
}

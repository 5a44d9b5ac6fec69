package stardust

import (
	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/dust"
)

// Record describes one node of the tree, as [Document.Decode] and the listing
// calls give it.
type Record struct {
	Entity   int64      `json:"entity"`
	Parent   int64      `json:"parent"`   // the parent directory's entity, 0 for the root
	Revision int64      `json:"revision"` // the transaction that last changed the node
	Name     string     `json:"name"`
	Kind     RecordKind `json:"kind"`
	Size     int64      `json:"size"` // of a file's payload, in bytes
	Digest   Digest     `json:"digest"`
}

// RecordKind is what a node is.
type RecordKind string

// The kinds of nodes.
const (
	KindFile      RecordKind = "file"
	KindDirectory RecordKind = "directory"
)

func newRecord(n *catalog.Node) Record {
	r := Record{
		Entity: n.Entity, Parent: n.Parent, Revision: n.Revision,
		Name: n.Name, Kind: KindDirectory,
	}
	if n.File {
		r.Kind, r.Size, r.Digest = KindFile, n.Size, n.Digest
	}
	return r
}

// recordValue is the record of a node as a document's value, in the spec's
// order of members.
func recordValue(n *catalog.Node) dust.Value {
	return new(recordArena).value(n)
}

// recordArena makes the records of a listing out of a few large allocations; a
// block of zero makes each record on its own.
type recordArena struct {
	block   int // members allocated at a time
	members []dust.Member
}

func (a *recordArena) take(n int) []dust.Member {
	if len(a.members) < n {
		a.members = make([]dust.Member, max(n, a.block))
	}
	taken := a.members[:n:n]
	a.members = a.members[n:]
	return taken
}

func (a *recordArena) value(n *catalog.Node) dust.Value {
	count, kind := 5, KindDirectory
	if n.File {
		count, kind = 7, KindFile
	}
	members := a.take(count)
	members[0] = dust.Member{Name: "entity", Value: dust.NewInt(n.Entity)}
	members[1] = dust.Member{Name: "parent", Value: dust.NewInt(n.Parent)}
	members[2] = dust.Member{Name: "revision", Value: dust.NewInt(n.Revision)}
	members[3] = dust.Member{Name: "name", Value: dust.NewString(n.Name)}
	members[4] = dust.Member{Name: "kind", Value: dust.NewString(string(kind))}
	if n.File {
		hex := a.take(1)
		hex[0] = dust.Member{Name: digest.Member, Value: dust.NewString(n.Digest.String())}
		members[5] = dust.Member{Name: "size", Value: dust.NewInt(n.Size)}
		members[6] = dust.Member{Name: "digest", Value: dust.NewObject(hex...)}
	}
	return dust.NewObject(members...)
}

// MarshalJSON returns the record as the objects spec prints it: a directory
// has neither size nor digest.
func (r Record) MarshalJSON() ([]byte, error) {
	n := catalog.Node{
		Entity: r.Entity, Parent: r.Parent, Revision: r.Revision, Name: r.Name,
		File: r.Kind == KindFile, Size: r.Size, Digest: r.Digest,
	}
	return dust.AppendJSON(nil, recordValue(&n)), nil
}

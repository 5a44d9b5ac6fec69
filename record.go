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

// recordValue is a record as a document's value, in the spec's
// order of members.
func recordValue(r *Record) dust.Value {
	return new(recordArena).value(r)
}

// recordArena makes the records of a listing from a few large allocations; a
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

func (a *recordArena) value(r *Record) dust.Value {
	count := 5
	if r.Kind == KindFile {
		count = 7
	}
	members := a.take(count)
	members[0] = dust.Member{Name: "entity", Value: dust.NewInt(r.Entity)}
	members[1] = dust.Member{Name: "parent", Value: dust.NewInt(r.Parent)}
	members[2] = dust.Member{Name: "revision", Value: dust.NewInt(r.Revision)}
	members[3] = dust.Member{Name: "name", Value: dust.NewString(r.Name)}
	members[4] = dust.Member{Name: "kind", Value: dust.NewString(string(r.Kind))}
	if r.Kind == KindFile {
		hex := a.take(1)
		hex[0] = dust.Member{Name: digest.Member, Value: dust.NewString(r.Digest.String())}
		members[5] = dust.Member{Name: "size", Value: dust.NewInt(r.Size)}
		members[6] = dust.Member{Name: "digest", Value: dust.NewObject(hex...)}
	}
	return dust.NewObject(members...)
}

// MarshalJSON returns the record as the objects spec prints it: a directory
// has neither size nor digest.
func (r Record) MarshalJSON() ([]byte, error) {
	return dust.AppendJSON(nil, recordValue(&r)), nil
}

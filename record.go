package stardust

import (
	"github.com/stardustdb/stardust/internal/catalog"
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
	members := make([]dust.Member, 5, 7)
	members[0] = dust.Member{Name: "entity", Value: dust.NewInt(n.Entity)}
	members[1] = dust.Member{Name: "parent", Value: dust.NewInt(n.Parent)}
	members[2] = dust.Member{Name: "revision", Value: dust.NewInt(n.Revision)}
	members[3] = dust.Member{Name: "name", Value: dust.NewString(n.Name)}
	members[4] = dust.Member{Name: "kind", Value: dust.NewString(string(KindDirectory))}
	if n.File {
		members[4].Value = dust.NewString(string(KindFile))
		members = append(members,
			dust.Member{Name: "size", Value: dust.NewInt(n.Size)},
			dust.Member{Name: "digest", Value: Digest(n.Digest).value()})
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

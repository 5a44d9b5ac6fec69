package slatedb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// Kind is what an object of a database holds.
type Kind int

const (
	// KindManifest is manifest/<20 digits>.manifest.
	KindManifest Kind = iota + 1
	// KindCompactions is compactions/<20 digits>.compactions.
	KindCompactions
	// KindCompacted is compacted/<ulid>.sst: L0 and sorted runs alike.
	KindCompacted
	// KindWAL is wal/<20 digits>.sst.
	KindWAL
)

// numberWidth is the number of digits of an object's number in its name.
const numberWidth = 20

// folder and suffix are the fixed parts of an object's name.
func (k Kind) folder() string {
	switch k {
	case KindManifest:
		return "manifest"
	case KindCompactions:
		return "compactions"
	case KindCompacted:
		return "compacted"
	case KindWAL:
		return "wal"
	}
	return ""
}

func (k Kind) suffix() string {
	switch k {
	case KindManifest:
		return ".manifest"
	case KindCompactions:
		return ".compactions"
	case KindCompacted, KindWAL:
		return ".sst"
	}
	return ""
}

// String returns the name of the folder that holds objects of the kind.
func (k Kind) String() string {
	if folder := k.folder(); folder != "" {
		return folder
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Name is the path of an object of a database, taken apart.
type Name struct {
	// Root is the database's root. It is empty when the database fills the
	// whole store.
	Root objectstore.Path
	Kind Kind
	// Number is the number of a manifest, compactions or WAL object.
	Number uint64
	// SST is the ID of a compacted SST.
	SST ulid.ULID
}

// Path puts the name together. It is the inverse of [ParseName].
func (n Name) Path() objectstore.Path {
	stem := n.SST.String()
	if n.Kind != KindCompacted {
		stem = fmt.Sprintf("%0*d", numberWidth, n.Number)
	}
	return inRoot(n.Root, n.Kind.folder()+"/"+stem+n.Kind.suffix())
}

// inRoot returns a path under a root that may be empty.
func inRoot(root objectstore.Path, below string) objectstore.Path {
	if root == "" {
		return objectstore.Path(below)
	}
	return root + "/" + objectstore.Path(below)
}

// ParseName takes the path of an object apart. It reports false for a path that
// SlateDB would not give to an object of these kinds: another spelling of a
// number or ULID is another object.
func ParseName(path objectstore.Path) (Name, bool) {
	folder := objectstore.Path(path.Parent())
	name := Name{Root: objectstore.Path(folder.Parent())}
	switch folder.Base() {
	case KindManifest.folder():
		name.Kind = KindManifest
	case KindCompactions.folder():
		name.Kind = KindCompactions
	case KindCompacted.folder():
		name.Kind = KindCompacted
	case KindWAL.folder():
		name.Kind = KindWAL
	default:
		return Name{}, false
	}
	stem, ok := strings.CutSuffix(path.Base(), name.Kind.suffix())
	if !ok {
		return Name{}, false
	}
	if name.Kind == KindCompacted {
		name.SST, ok = parseULID(stem)
	} else {
		name.Number, ok = parseNumber(stem)
	}
	return name, ok
}

// parseULID accepts the canonical spelling only, which is in upper case.
func parseULID(s string) (ulid.ULID, bool) {
	for i := range len(s) {
		if s[i] >= 'a' {
			return ulid.ULID{}, false
		}
	}
	id, err := ulid.ParseStrict(s)
	return id, err == nil
}

func parseNumber(s string) (uint64, bool) {
	if len(s) != numberWidth {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// ManifestPath is the path of a manifest of the database at root.
func ManifestPath(root objectstore.Path, id uint64) objectstore.Path {
	return Name{Root: root, Kind: KindManifest, Number: id}.Path()
}

// CompactionsPath is the path of a compactions object of the database at root.
func CompactionsPath(root objectstore.Path, id uint64) objectstore.Path {
	return Name{Root: root, Kind: KindCompactions, Number: id}.Path()
}

// SSTPath is the path of a compacted SST that the database at root wrote. Use a
// [Resolver] for the SSTs of a manifest, which may be another database's.
func SSTPath(root objectstore.Path, id ulid.ULID) objectstore.Path {
	return Name{Root: root, Kind: KindCompacted, SST: id}.Path()
}

// WALPath is the path of a WAL SST of the database at root.
func WALPath(root objectstore.Path, id uint64) objectstore.Path {
	return Name{Root: root, Kind: KindWAL, Number: id}.Path()
}

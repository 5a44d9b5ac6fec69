package transfer

import (
	"maps"
	"strings"

	"github.com/stardustdb/stardust/internal/attributes"
)

// Preserve selects what an import keeps, and an export restores, of files
// besides type, permissions and times.
type Preserve struct {
	// Owner is user and group.
	Owner bool
	// Xattrs are extended attributes: those of users, and with Privileges all.
	Xattrs bool
	// HardLinks is which files are names of one.
	HardLinks bool
	// Privileges are setuid, setgid and sticky bits, and extended attributes
	// beyond those of users: capabilities, labels, access lists. Imports always
	// keep the bits.
	Privileges bool
}

// PreserveAll selects everything.
func PreserveAll() Preserve { return Preserve{true, true, true, true} }

// String returns the selection as a part of what an index keeps.
func (p Preserve) String() string {
	var b strings.Builder
	for _, part := range []struct {
		on   bool
		name string
	}{{p.Owner, ",owner"}, {p.Xattrs, ",xattrs"}, {p.Xattrs && p.Privileges, ",privileges"}, {p.HardLinks, ",links"}} {
		if part.on {
			b.WriteString(part.name)
		}
	}
	return b.String()
}

// members are those that an import with the selection is responsible for.
func (p Preserve) members() attributes.Members {
	m := attributes.Basic
	if p.Owner {
		m |= attributes.MemberOwner
	}
	if p.Xattrs {
		m |= attributes.MemberXattrs
	}
	if p.HardLinks {
		m |= attributes.MemberLink
	}
	return m
}

// Filter takes away what is not selected, so that what an export knows of a file
// is what it restores. The database may be a stranger's.
func (p Preserve) Filter(f *attributes.File) {
	if !p.Owner {
		f.Owner = nil
	}
	if !p.HardLinks {
		f.Link = ""
	}
	if !p.Privileges {
		f.Mode &= 0o777
	}
	f.Xattrs = p.xattrs(f.Xattrs)
}

// maxXattrs is how many bytes the extended attributes of a file have together that
// are kept, names and values.
const maxXattrs = 512 << 10

// xattrs returns those that are selected.
func (p Preserve) xattrs(all map[string][]byte) map[string][]byte {
	if !p.Xattrs || len(all) == 0 {
		return nil
	}
	if p.Privileges {
		return all
	}
	users := maps.Clone(all)
	maps.DeleteFunc(users, func(name string, _ []byte) bool { return !usersXattr(name) })
	return users
}

// wantsXattr reports whether an extended attribute is kept.
func (p Preserve) wantsXattr(name string) bool { return p.Privileges || usersXattr(name) }

// usersXattr reports whether an extended attribute is one that users may set
// freely and that grants nothing.
func usersXattr(name string) bool { return strings.HasPrefix(name, "user.") }

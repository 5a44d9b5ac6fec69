package stardust

import "github.com/stardustdb/stardust/internal/transfer"

// Preserve selects what an import keeps, and an export restores, of files beside
// their type, permissions and times; see docs/attributes.md. A file system that
// does not know it, or does not let an export restore it, is no end of either: an
// export reports what it could not give a file, which is in its place all the same.
//
// An export asks for nothing by itself, since a database may come from a stranger:
// owners, links and above all what grants privileges are theirs to say, and yours
// to take.
type Preserve struct {
	// Owner is the user and the group, by number and name. An export looks for the
	// names first and takes the numbers where there are none of them.
	Owner bool
	// Xattrs are extended attributes of files and directories, at most 512 KiB of
	// a file: those whose names begin with "user.", and with Privileges all. They
	// are known on Linux.
	Xattrs bool
	// HardLinks is which files are names of one. An export makes links of those
	// that an import said so of and that still have the same content.
	HardLinks bool
	// Privileges are extended attributes of other kinds, such as capabilities and
	// access lists, and the setuid, setgid and sticky bits, which imports always
	// keep. An export restores setuid and setgid only on a file whose owner it
	// restored, too.
	Privileges bool
}

// PreserveAll selects everything.
func PreserveAll() Preserve { return Preserve(transfer.PreserveAll()) }

// preserved returns a selection; nil is everything.
func preserved(p *Preserve) transfer.Preserve {
	if p == nil {
		return transfer.PreserveAll()
	}
	return transfer.Preserve(*p)
}

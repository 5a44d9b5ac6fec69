//go:build unix

package transfer

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/stardustdb/stardust/internal/attributes"
)

// takeOver gives a new file the owner of the one that it will replace, and returns
// the permissions that it is to have. Where the owner may not be given, nobody
// gains by it: the group's permissions are those of a group that is the same.
func takeOver(file *os.File, old fs.FileInfo) (fs.FileMode, error) {
	mode := old.Mode().Perm()
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		now, err := file.Stat()
		if err != nil {
			return 0, err
		}
		mine, ok := now.Sys().(*syscall.Stat_t)
		if !ok || mine.Uid != st.Uid || mine.Gid != st.Gid {
			err := file.Chown(int(st.Uid), int(st.Gid))
			if err != nil {
				err = file.Chown(-1, int(st.Gid))
			}
			if err != nil && ok && mine.Gid != st.Gid {
				mode &^= 0o070
			}
		}
	}
	return mode, nil
}

// owns reports whether a file belongs to an owner.
func (r *restorer) owns(info fs.FileInfo, o *attributes.Owner) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	uid, gid := r.numbers(o)
	return ok && int(st.Uid) == uid && int(st.Gid) == gid
}

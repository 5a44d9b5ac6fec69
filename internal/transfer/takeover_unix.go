//go:build unix

package transfer

import (
	"io/fs"
	"os"
	"syscall"
)

// takeOver gives a new file the owner and permissions of the one that it will
// replace. Where the owner may not be given, nobody gains by it: the group's
// permissions are those of a group that is the same.
func takeOver(file *os.File, old fs.FileInfo) error {
	mode := old.Mode().Perm()
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		now, err := file.Stat()
		if err != nil {
			return err
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
	return file.Chmod(mode)
}

package transfer

import (
	"io/fs"
	"syscall"
)

// changeTime returns when a file or what is known about it last changed, in
// nanoseconds, which no program can set; 0 when it is not known.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}

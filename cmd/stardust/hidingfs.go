package main

import (
	"io/fs"
	"path"
	"strings"
)

// hidingFS is a file system whose listings leave out one file, a database, and
// what stands beside it while it is open.
type hidingFS struct {
	fs.FS
	hidden string
}

// Open opens a file or directory; directories list what is not hidden.
func (h hidingFS) Open(name string) (fs.File, error) {
	f, err := h.FS.Open(name)
	if err != nil || path.Dir(h.hidden) != name {
		return f, err
	}
	if directory, ok := f.(fs.ReadDirFile); ok {
		return hidingDirectory{directory, path.Base(h.hidden)}, nil
	}
	return f, nil
}

// hidingDirectory is the directory that the hidden file lies in.
type hidingDirectory struct {
	fs.ReadDirFile
	hidden string
}

// ReadDir reads on until it has something to show or comes to the end.
func (h hidingDirectory) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		entries, err := h.ReadDirFile.ReadDir(n)
		kept := entries[:0]
		for _, entry := range entries {
			switch rest, found := strings.CutPrefix(entry.Name(), h.hidden); {
			case found && (rest == "" || rest == "-wal" || rest == "-shm"):
			default:
				kept = append(kept, entry)
			}
		}
		if len(kept) > 0 || err != nil || n <= 0 || len(entries) == 0 {
			return kept, err
		}
	}
}

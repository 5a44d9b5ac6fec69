package stardust

import (
	"io"
	"io/fs"
	"os"
)

// Owns reports whether a file is the database itself, or its log or shared
// memory, by whatever name or link it was opened: compare before storing a file,
// since a database that stores itself grows without end. [Tree.Import] and
// PluginStream.ReadFrom do so themselves.
func (db *DB) Owns(info fs.FileInfo) bool {
	if db == nil || info == nil {
		return false
	}
	return db.file.ownFiles().has(info)
}

// ownFiles are the files of an open database.
type ownFiles struct {
	main   fs.FileInfo
	beside []string // paths of files that come and go
}

func (f *file) ownFiles() ownFiles {
	own := ownFiles{beside: f.container.Beside()}
	own.main, _ = f.container.Stat() // nil compares with nothing
	return own
}

func (o ownFiles) has(info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	if o.main != nil && os.SameFile(o.main, info) {
		return true
	}
	for _, path := range o.beside {
		if there, err := os.Stat(path); err == nil && os.SameFile(there, info) {
			return true
		}
	}
	return false
}

// readsItself reports whether a reader is a file of the stream's own database.
func (s *PluginStream) readsItself(r io.Reader) bool {
	file, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok || s == nil || s.db == nil {
		return false
	}
	info, err := file.Stat()
	return err == nil && s.db.Owns(info)
}

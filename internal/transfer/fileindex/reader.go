package fileindex

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Reader reads an index. It is for one goroutine. A nil Reader knows nothing.
type Reader struct {
	file        *os.File
	binding     Binding
	directories map[string]*directory
	entries     []Entry // of the last directory
}

// Open opens an index. The caller closes it. An error says that there is none, or
// none that can be used.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *Reader) load() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	end := info.Size() - int64(trailerSize)
	if end < int64(len(magic)) {
		return errDamaged
	}
	trailer := make([]byte, trailerSize)
	if _, err := r.file.ReadAt(trailer, end); err != nil {
		return err
	}
	at, size := int64(binary.LittleEndian.Uint64(trailer)), int64(binary.LittleEndian.Uint64(trailer[8:]))
	if string(trailer[24:]) != magic || at < int64(len(magic)) || size < 0 || at > end || size != end-at {
		return errDamaged
	}
	table, err := r.read(place{at, size, binary.LittleEndian.Uint64(trailer[16:])})
	if err != nil {
		return err
	}
	r.binding, r.directories, err = decodeTable(table, at)
	return err
}

// maxBlock bounds a block and the table, so that 32-bit systems can hold them.
const maxBlock = 1 << 30

// read reads bytes that have a checksum.
func (r *Reader) read(p place) (string, error) {
	if p.size > maxBlock {
		return "", errDamaged
	}
	text := make([]byte, p.size) // no more than the file has
	n, err := r.file.ReadAt(text, p.offset)
	if err == nil && (n != len(text) || xxh3.Hash(text) != p.sum) {
		err = errDamaged
	}
	return string(text), err
}

// Close closes the index.
func (r *Reader) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}

// Binding says what the index is about.
func (r *Reader) Binding() Binding { return r.binding }

// Directory returns what is known of a directory's entries, in the order of their
// names and until the next call, and whether the tree's directory held nothing else. Of a directory that
// is not in the index, or where it is damaged, that is nothing.
func (r *Reader) Directory(path string) (entries []Entry, complete bool) {
	if r == nil || r.directories[path] == nil {
		return nil, false
	}
	d := r.directories[path]
	entries = r.entries[:0]
	for _, p := range d.blocks {
		block, err := r.read(p)
		if err == nil {
			entries, err = decodeEntries(block, entries)
		}
		if err != nil {
			return nil, false
		}
	}
	r.entries = entries
	for i := 1; i < len(entries); i++ {
		if entries[i-1].Name >= entries[i].Name {
			entries = newest(entries)
			break
		}
	}
	return entries, d.complete
}

// newest sorts entries and keeps the last of each name.
func newest(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	kept := entries[:0]
	for i := range entries {
		if i+1 < len(entries) && entries[i+1].Name == entries[i].Name {
			continue
		}
		kept = append(kept, entries[i])
	}
	return kept
}

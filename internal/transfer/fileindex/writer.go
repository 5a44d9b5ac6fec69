package fileindex

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"
)

// Writer makes an index under a temporary name. Its methods may be called
// concurrently. An error of one is returned by Commit.
type Writer struct {
	path string
	old  *Reader // where directories are copied from; may be nil

	mu          sync.Mutex
	file        *os.File
	out         *bufio.Writer
	offset      int64
	directories map[string]*draft
	block       []byte
	fresh       bool // something is not as in old
	err         error
}

// Create begins an index that will have a path, in a directory that is made when
// it is missing. The caller calls Commit or Abandon.
func Create(path string, old *Reader) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, old: old, file: file, out: bufio.NewWriterSize(file, 256<<10), directories: make(map[string]*draft)}
	w.write([]byte(magic))
	return w, nil
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.offset += int64(len(b))
}

// Add adds entries of a directory. Of entries of one name the last one counts.
func (w *Writer) Add(path string, entries []Entry) {
	if len(entries) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = true
	w.block = w.block[:0]
	for i := range entries {
		w.block = appendEntry(w.block, &entries[i])
	}
	d := w.directory(path)
	d.blocks = append(d.blocks, place{w.offset, int64(len(w.block)), xxh3.Hash(w.block)})
	w.write(w.block)
}

// draft is a directory of the new index.
type draft struct {
	directory
	kept []place // blocks of the old index that come before the others
}

func (w *Writer) directory(path string) *draft {
	d := w.directories[path]
	if d == nil {
		d = new(draft)
		w.directories[path] = d
	}
	return d
}

// Keep takes a directory over from the old index as it is there, before anything
// is added to it.
func (w *Writer) Keep(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from := w.old.directories[path]; from != nil {
		d := w.directory(path)
		d.kept, d.complete = from.blocks, from.complete
	}
}

// SetComplete says that the tree's directory holds the entries of the new index
// and nothing else, or that this is not known.
func (w *Writer) SetComplete(path string, complete bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.directory(path); d.complete != complete {
		d.complete, w.fresh = complete, true
	}
}

// Abandon removes the unfinished index.
func (w *Writer) Abandon() {
	_ = w.file.Close()           // it goes
	_ = os.Remove(w.file.Name()) // what stays is only a cache
}

// Commit ends the index and gives it its name. When it says the same as the old
// one, that stays.
func (w *Writer) Commit(binding Binding) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fresh && w.old != nil && binding == w.old.binding && len(w.directories) == len(w.old.directories) {
		w.Abandon()
		return nil
	}
	err := w.finish(&binding)
	if err == nil {
		err = os.Rename(w.file.Name(), w.path)
	}
	if err != nil {
		_ = os.Remove(w.file.Name()) // the error says more
	}
	return err
}

func (w *Writer) finish(binding *Binding) error {
	directories := make(map[string]*directory, len(w.directories))
	for path, d := range w.directories {
		if !w.copy(d) {
			continue
		}
		directories[path] = &d.directory
	}
	at := w.offset
	table, err := appendTable(nil, binding, directories)
	if err != nil {
		return errors.Join(err, w.file.Close())
	}
	w.write(table)
	trailer := binary.LittleEndian.AppendUint64(nil, uint64(at))
	trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(table)))
	trailer = binary.LittleEndian.AppendUint64(trailer, xxh3.Hash(table))
	w.write(append(trailer, magic...))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return errors.Join(w.err, w.file.Close())
}

// copy copies the blocks that a directory keeps. It reports whether they were
// whole: without them, nothing is known of the directory.
func (w *Writer) copy(d *draft) bool {
	var blocks []place
	for _, p := range d.kept {
		block, err := w.old.read(p)
		if err != nil {
			return false
		}
		blocks = append(blocks, place{w.offset, p.size, p.sum})
		w.write([]byte(block))
	}
	d.blocks = append(blocks, d.blocks...)
	return true
}

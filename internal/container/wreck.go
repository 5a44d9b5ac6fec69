package container

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// Wreck is a damaged file, read for what is left of it. Nothing of it changes,
// and no writer gets the file meanwhile. All methods but Close may be called
// concurrently.
type Wreck struct {
	c      *Container
	log    *os.File        // nil when it adds nothing
	frames map[int64]int64 // the newest frame of each page that the log has, from 0
	doubt  error
	whole  bool // the superblock was found
}

// OpenWreck opens what is left of a file. The error wraps ErrNotDatabase for a
// file that has no trace of one, is a *LockedError while somebody has the file
// open, or is of package fs.
func OpenWreck(path string) (_ *Wreck, err error) {
	resolved, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f, _, err := openFile(resolved, true)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	w := &Wreck{c: &Container{path: resolved, readOnly: true, disk: &disk{file: f}}, frames: make(map[int64]int64)}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if w.c.locks, err = openLocks(resolved); err != nil {
		return nil, err
	}
	for _, at := range []int64{presentByte, pinByte} {
		if err := w.c.locks.set(at, false); err != nil {
			return nil, w.c.lockError(err)
		}
	}
	if err := w.survey(); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return w, nil
}

// survey looks for the superblock, in the slots and in trailers, and for the log.
func (w *Wreck) survey() error {
	s, _, _, err := readSuperblock(w.c.disk.readAt)
	if err != nil {
		if errors.Is(err, ErrNewer) {
			return err
		}
		if s, err = w.searchTrailer(); err != nil {
			return err
		}
	}
	if s == nil {
		w.doubt = errors.New("no copy of the superblock is left: names are lost")
		return nil
	}
	w.whole = true
	w.c.super, w.c.identity, w.c.sums = *s, s.identity, newPageSums(s.identity)
	w.c.pages.Store(&s.extents)
	w.c.trailerNote.Store(s.noteOffset())
	return w.readLog()
}

// searchTrailer looks at every page for a copy of the superblock that lies where
// it says.
func (w *Wreck) searchTrailer() (newest *superblock, err error) {
	const window = 1 << 20
	buf := make([]byte, window)
	for from := int64(0); ; from += window {
		n, err := w.c.disk.readAt(buf, from)
		if err != nil && !isEOF(err) {
			return nil, err
		}
		for i := 0; i+PageSize <= n; i += PageSize {
			s, err := decodeSlot(buf[i : i+PageSize])
			if err == nil && s.trailer == from+int64(i) && (newest == nil || s.generation > newest.generation) {
				newest = s
			}
		}
		if n < window {
			return newest, nil
		}
	}
}

// readLog finds the pages that the file's own log has, up to its last whole
// commit.
func (w *Wreck) readLog() error {
	if err := w.c.examine(true); err != nil {
		w.doubt = err
		return nil
	}
	w.doubt = w.c.side.accepted
	if w.c.side.fate != logOurs {
		return nil
	}
	f, err := os.Open(w.c.logPath())
	if err != nil {
		return err
	}
	w.log = f
	var number [4]byte
	for n := range int64(w.c.log0.log.frames) {
		if _, err := f.ReadAt(number[:], logHeader+n*frameSize); err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		w.frames[int64(binary.BigEndian.Uint32(number[:]))] = n
	}
	return nil
}

// Doubt says why the latest commits may not be there, nil when all are.
func (w *Wreck) Doubt() error { return w.doubt }

// Pages returns how many pages the file and its log may have.
func (w *Wreck) Pages() int64 {
	n := int64(0)
	if w.whole {
		n = w.c.super.extents.capacity() / PageSize
	}
	for page := range w.frames {
		n = max(n, page)
	}
	return n
}

// Page fills p with a page of SQLite's database, counted from 1, and reports
// whether it is whole.
func (w *Wreck) Page(number int64, p []byte) (bool, error) {
	if frame, ok := w.frames[number]; ok {
		_, err := w.log.ReadAt(p[:PageSize], logHeader+frame*frameSize+frameHeader)
		return err == nil, err
	}
	if !w.whole {
		return false, nil
	}
	off := (number - 1) * PageSize
	at, ok := w.c.super.extents.locate(off)
	if !ok {
		return false, nil
	}
	n, err := w.c.disk.readAt(p[:PageSize], at)
	if n < PageSize {
		if isEOF(err) {
			err = nil
		}
		return false, err
	}
	return w.c.sums.check(p, off), nil
}

// Size returns the file's size in bytes.
func (w *Wreck) Size() (int64, error) { return w.c.disk.size() }

// ReadAt reads len(p) bytes of the file at off.
func (w *Wreck) ReadAt(p []byte, off int64) (int, error) { return w.c.disk.readAt(p, off) }

// ReadPieces fills the pieces with the bytes at off, one after the other.
func (w *Wreck) ReadPieces(off int64, pieces ...[]byte) error { return w.c.ReadPieces(off, pieces...) }

// Take returns ErrReadOnly, as everything does that would change the file.
func (w *Wreck) Take(int64) (int64, error) { return 0, ErrReadOnly }

// Tail returns the end of the file.
func (w *Wreck) Tail() int64 {
	size, err := w.Size()
	if err != nil {
		return 0
	}
	return size
}

// SetTail returns ErrReadOnly.
func (w *Wreck) SetTail(int64) error { return ErrReadOnly }

// GiveBack gives back nothing.
func (w *Wreck) GiveBack(_, end int64, _ bool) (int64, error) { return end, nil }

// CheckEnd returns ErrReadOnly.
func (w *Wreck) CheckEnd(int64) error { return ErrReadOnly }

// Reserved returns nothing: whatever lies there may be looked at.
func (w *Wreck) Reserved() []Extent { return nil }

// WriteAt returns ErrReadOnly.
func (w *Wreck) WriteAt(int64, ...[]byte) error { return ErrReadOnly }

// Sync returns ErrReadOnly.
func (w *Wreck) Sync() error { return ErrReadOnly }

// Close releases the file.
func (w *Wreck) Close() error {
	err := w.c.disk.file.Close()
	if w.log != nil {
		err = errors.Join(err, w.log.Close())
	}
	if w.c.locks != nil {
		err = errors.Join(err, w.c.locks.close())
	}
	return err
}

// Punch implements heap.File. It fails.
func (w *Wreck) Punch(int64, int64) (bool, error) { return false, ErrReadOnly }

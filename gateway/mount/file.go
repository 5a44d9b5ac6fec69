//go:build linux

package mount

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/attributes"
)

// file is the state of a file that is open or not committed yet, shared by all
// who have it open.
type file struct {
	view *view
	who  *identity
	// parent and name are where an unborn file is to be.
	parent int64
	name   string

	opens   int // guarded by shared.mu
	writers atomic.Int32

	mu      sync.RWMutex // reads share it
	meta    meta         // with what is not committed yet
	base    *stardust.Reader
	draft   *draft // nil until something is written
	written bool   // the content is not committed
	// described says that meta has the mode and the time that are kept.
	described bool
	pending   change // what else is not: mode and mtime
	edited    bool   // written to since the last commit, not only opened
	writer    uint32 // the thread that did it last, or made or emptied the file
	failed    error  // of the last commit, until there is something new
}

// open returns the state of a file, which release ends.
func (v *view) open(who *identity) (*file, error) {
	if !v.live {
		f := &file{view: v, who: who, opens: 1}
		return f, f.load()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.stateOf(who); f != nil {
		f.opens++
		return f, nil
	}
	f := &file{view: v, who: who, opens: 1}
	if err := f.load(); err != nil {
		return nil, err
	}
	v.files[who.entity.Load()] = f
	return f, nil
}

// stateOf returns the state of a file that has one, or nil. The caller holds
// shared.mu.
func (v *view) stateOf(who *identity) *file {
	if entity := who.entity.Load(); entity != 0 {
		return v.files[entity]
	}
	return v.files[who.number]
}

func (f *file) load() error {
	entity := f.who.entity.Load()
	if entity == 0 {
		return syscall.ESTALE // it was made, removed and closed
	}
	record, err := f.view.tree.Get(entity)
	if err != nil {
		return err
	}
	f.meta = f.view.metaWith(&record, new(stardust.FileAttributes))
	if f.meta.size > 0 {
		f.base, err = f.view.tree.Open(f.meta.digest)
	}
	return err
}

// close frees what the file holds. The caller holds mu.
func (f *file) close() {
	if f.draft != nil {
		f.draft.close()
		f.draft = nil
	}
	if f.base != nil {
		_ = f.base.Close() // it was read only
		f.base = nil
	}
}

// unsaved says that there is something to commit. The caller holds mu.
func (f *file) unsaved() bool {
	return !f.meta.removed && (f.written || f.pending != change{} || f.who.entity.Load() == 0)
}

// awaitsClose says that a program which has the file open is going to commit it
// when it closes it, and more with it than was changed now.
func (f *file) awaitsClose() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.writers.Load() > 0 && (f.written || f.who.entity.Load() == 0)
}

// what names the file in messages.
func (f *file) what() string {
	if entity := f.who.entity.Load(); entity != 0 {
		return fmt.Sprintf("entity %d", entity)
	}
	return fmt.Sprintf("%q in directory %d", f.name, f.parent)
}

func (f *file) stat() meta {
	f.mu.RLock()
	m, described := f.meta, f.described
	f.mu.RUnlock()
	if described {
		return m
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe()
	return f.meta
}

// describe learns the mode and the time that are kept, which most readers never ask
// for. The caller holds mu.
func (f *file) describe() {
	if f.described {
		return
	}
	kept, err := f.view.tree.FileAttributes(f.who.entity.Load())
	if err != nil {
		f.view.log.Warn("a file's attributes can't be read", "file", f.what(), "error", err)
		return
	}
	f.described = true
	if kept.HasMode && f.pending.mode == nil {
		f.meta.mode = attributes.ModeBits(kept.Mode)
	}
	if !kept.ModTime.IsZero() && f.pending.mtime == nil {
		f.meta.mtime = kept.ModTime
	}
}

func (f *file) readAt(p []byte, offset int64) (n int, err error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.draft != nil:
		n, err = f.draft.ReadAt(p, offset)
	case f.base != nil:
		n, err = f.base.ReadAt(p, offset)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// writeAt writes to the draft; at its end with a negative offset.
func (f *file) writeAt(p []byte, offset int64, thread uint32) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.edit(); err != nil {
		return 0, err
	}
	if offset < 0 {
		offset = f.meta.size
	}
	f.edited, f.writer = true, thread
	n, err := f.draft.WriteAt(p, offset)
	f.meta.size = f.draft.size
	return n, err
}

func (f *file) truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size == f.meta.size && f.draft == nil {
		f.touch(f.view.now())
		return nil
	}
	if err := f.edit(); err != nil {
		return err
	}
	f.draft.truncate(size)
	f.meta.size = size
	return nil
}

// edit makes the draft. The caller holds mu.
func (f *file) edit() error {
	if f.draft == nil {
		d, err := newDraft(f.view.drafts, f.stored(), f.meta.size)
		if err != nil {
			return err
		}
		f.draft = d
	}
	f.written = true
	f.touch(f.view.now())
	return nil
}

// touch sets the time of the content. The caller holds mu.
func (f *file) touch(t time.Time) {
	f.describe()
	f.failed = nil
	f.meta.mtime = t
	f.pending.mtime = &t
}

// setMode and setTime change what the next commit brings.
func (f *file) setMode(mode uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.describe()
	f.failed = nil
	f.meta.mode = mode
	f.pending.mode = &mode
}

func (f *file) setTime(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touch(t)
}

// setWriter says which thread made or emptied the file.
func (f *file) setWriter(thread uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writer = thread
}

// remove makes the file one without a name, that lasts until it is closed.
func (f *file) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meta.removed = true
}

//go:build linux

package mount

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stardustdb/stardust"
)

// file is the state of a file that is open or not committed yet, shared by all
// who have it open.
type file struct {
	view   *view
	entity int64
	opens  int // guarded by shared.mu

	mu      sync.RWMutex // reads share it
	meta    meta         // with what is not committed yet
	base    *stardust.Reader
	draft   *draft // nil until something is written
	written bool   // the content is not committed
	pending change // what else is not: mode and mtime
	edited  bool   // written to since the last commit, not only opened
	failed  error  // of the last commit, until there is something new
}

// open returns the state of a file, which release ends.
func (v *view) open(entity int64) (*file, error) {
	if !v.live {
		f := &file{view: v, entity: entity, opens: 1}
		return f, f.load()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if f := v.files[entity]; f != nil {
		f.opens++
		return f, nil
	}
	f := &file{view: v, entity: entity, opens: 1}
	if err := f.load(); err != nil {
		return nil, err
	}
	v.files[entity] = f
	return f, nil
}

func (f *file) load() error {
	record, err := f.view.tree.Get(f.entity)
	if err != nil {
		return err
	}
	if f.meta, err = f.view.metaOf(&record); err != nil {
		return err
	}
	if f.meta.size > 0 {
		f.base, err = f.view.tree.Open(f.meta.digest)
	}
	return err
}

// release ends what open began. A file that could not be committed stays, for
// fsync, the next close, or unmount to try again.
func (f *file) release() {
	f.mu.RLock()
	err := f.failed // which its closer was told
	f.mu.RUnlock()
	if err == nil {
		err = f.commit()
	}
	if err != nil {
		f.view.log.Error("a file was closed and could not be committed; unmount tries again", "entity", f.entity, "error", err)
	}
	f.view.mu.Lock()
	f.opens--
	done := f.opens == 0 && !f.dirty()
	if done && f.view.live {
		delete(f.view.files, f.entity)
	}
	f.view.mu.Unlock()
	if !done {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
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

// dirty says that there is something to commit.
func (f *file) dirty() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.unsaved()
}

// unsaved is dirty for who holds mu.
func (f *file) unsaved() bool {
	return !f.meta.removed && (f.written || f.pending != change{})
}

func (f *file) stat() meta {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.meta
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
func (f *file) writeAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.edit(); err != nil {
		return 0, err
	}
	if offset < 0 {
		offset = f.meta.size
	}
	f.edited = true
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
		var base io.ReaderAt
		if f.base != nil {
			base = f.base
		}
		d, err := newDraft(f.view.drafts, base, f.meta.size)
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
	f.failed = nil
	f.meta.mtime = t
	f.pending.mtime = &t
}

// setMode and setTime change what the next commit brings.
func (f *file) setMode(mode uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = nil
	f.meta.mode = mode
	f.pending.mode = &mode
}

func (f *file) setTime(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touch(t)
}

// remove makes the file nameless; it lasts until it is closed.
func (f *file) remove() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.meta.removed = true
}

// flush is commit for a program that closes a descriptor. Shells open a file
// for a command, duplicate the descriptor and close the first: a file that was
// only made or emptied waits for the last one.
func (f *file) flush() error {
	f.mu.RLock()
	edited := f.edited
	f.mu.RUnlock()
	if !edited {
		return nil
	}
	return f.commit()
}

// commit brings everything that was not committed into the database, in one
// commit. After an error it is all still here.
func (f *file) commit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unsaved() {
		return nil
	}
	f.failed = f.save()
	return f.failed
}

// save is commit for who holds mu.
func (f *file) save() error {
	next := f.pending
	var base *stardust.Reader
	if f.written {
		published, err := f.upload()
		if err != nil {
			return err
		}
		if published.Size > 0 {
			if base, err = f.view.tree.Open(published.Digest); err != nil {
				return err
			}
		}
		next.digest = &published.Digest
	}
	if err := f.view.apply(f.entity, &next); err != nil {
		if base != nil {
			_ = base.Close() // it was not read
		}
		return err
	}
	f.pending, f.edited = change{}, false
	if f.written {
		f.written = false
		f.meta.digest = *next.digest
		f.settle(base)
	}
	return nil
}

// settle makes what was committed the base of what comes next.
func (f *file) settle(base *stardust.Reader) {
	if f.base != nil {
		_ = f.base.Close() // it was read only
	}
	f.base = base
	if base == nil {
		f.draft.rebase(nil)
		return
	}
	f.draft.rebase(base)
}

func (f *file) upload() (stardust.Published, error) {
	upload, err := f.view.tree.Upload()
	if err != nil {
		return stardust.Published{}, err
	}
	defer upload.Close()
	if _, err := upload.ReadFrom(io.NewSectionReader(f.draft, 0, f.draft.size)); err != nil {
		return stardust.Published{}, err
	}
	return upload.Finish()
}

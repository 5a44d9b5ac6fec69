//go:build linux

package mount

import (
	"io"
	"syscall"

	"github.com/stardustdb/stardust"
)

// flush is commit for a program that closes a descriptor, unless more is to come.
// Shells open a file for a command, duplicate the descriptor and close the first
// one: a file that was only made or emptied waits for the last one. Programs that
// start others close their descriptors in those.
func (f *file) flush(thread uint32) error {
	f.mu.RLock()
	edited, unsaved, writer := f.edited, f.unsaved(), f.writer
	f.mu.RUnlock()
	if !unsaved || isOther(thread, writer) || !edited && hasOther(thread, number(f.who.number, 0)) {
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
	digest, base, err := f.publish()
	if err != nil {
		return err
	}
	if f.who.entity.Load() == 0 {
		err = f.bear(digest)
	} else {
		next := f.pending
		next.digest = digest
		err = f.view.apply(f.who.entity.Load(), &next)
	}
	if err != nil {
		if base != nil {
			_ = base.Close() // it was not read
		}
		return err
	}
	f.pending, f.edited = change{}, false
	if digest != nil {
		f.meta.digest = *digest
	}
	if f.written {
		f.written = false
		f.settle(base)
	}
	return nil
}

// publish stores the content, unless the database has it, and returns its digest
// and a reader of it. An empty content needs no reader.
func (f *file) publish() (*stardust.Digest, *stardust.Reader, error) {
	if !f.written {
		if f.who.entity.Load() != 0 {
			return nil, nil, nil
		}
		digest, err := f.view.emptyPayload()
		return digest, nil, err
	}
	published, err := f.upload()
	if err != nil || published.Size == 0 {
		return &published.Digest, nil, err
	}
	base, err := f.view.tree.Open(published.Digest)
	return &published.Digest, base, err
}

// settle makes what was committed the base of what comes next.
func (f *file) settle(base *stardust.Reader) {
	if f.base != nil {
		_ = f.base.Close() // it was read only
	}
	f.base = base
	f.draft.rebase(f.stored())
}

// stored is what was committed, nil when that is nothing. The caller holds mu.
func (f *file) stored() io.ReaderAt {
	if f.base == nil {
		return nil // of the interface
	}
	return f.base
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

// release ends what open began. The last one commits what is left, which no program
// learns the outcome of. What could not be committed stays, for fsync, the next
// close, or unmount to try again; but not where there is no room for it: programs
// were told, and what they wrote would keep its room from all others.
func (f *file) release() {
	f.view.mu.Lock()
	f.opens--
	last := f.opens == 0
	f.view.mu.Unlock()
	if !last {
		return
	}
	f.mu.RLock()
	err := f.failed // which who closed it was told
	f.mu.RUnlock()
	if err == nil {
		err = f.commit()
	}
	switch {
	case err == nil:
	case errnoOf(err) == syscall.ENOSPC:
		f.giveUp()
		f.view.log.Error("a file was closed and there was no room to commit it: what was written since its last commit is gone", "file", f.what(), "error", err)
	default:
		f.view.log.Error("a file was closed and could not be committed; unmount tries again", "file", f.what(), "error", err)
	}
	f.end()
}

// giveUp makes a file what the database has, if that has it at all.
func (f *file) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed, f.written, f.pending = nil, false, change{}
	if f.who.entity.Load() == 0 {
		f.bury()
	}
}

// end frees a file that nobody has open, unless it waits to be committed.
func (f *file) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.mu.Lock()
	done := f.opens == 0 && !f.unsaved()
	if done && f.view.live {
		delete(f.view.files, f.who.number)
		if entity := f.who.entity.Load(); f.view.files[entity] == f {
			delete(f.view.files, entity)
		}
	}
	f.view.mu.Unlock()
	if done {
		f.close()
	}
}

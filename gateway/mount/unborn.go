//go:build linux

package mount

import (
	"maps"
	"time"

	"github.com/stardustdb/stardust"
)

// unborn are the files that programs made and that are not in the database yet, by
// directory and name. shared.mu guards them.
type unborn map[int64]map[string]*file

func (u unborn) add(f *file) {
	if u[f.parent] == nil {
		u[f.parent] = make(map[string]*file)
	}
	u[f.parent][f.name] = f
}

func (u unborn) drop(f *file) {
	if u[f.parent][f.name] != f {
		return
	}
	delete(u[f.parent], f.name)
	if len(u[f.parent]) == 0 {
		delete(u, f.parent)
	}
}

// waiting returns the unborn file of a name, or nil.
func (v *view) waiting(parent int64, name string) *file {
	if !v.live {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unborn[parent][name]
}

// held returns the unborn file of a name, or nil. It doesn't come into the database
// until unlock is called.
func (v *view) held(parent int64, name string) (f *file, unlock func()) {
	if f = v.waiting(parent, name); f == nil {
		return nil, func() {}
	}
	f.mu.Lock()
	if f.meta.removed || f.who.entity.Load() != 0 {
		f.mu.Unlock()
		return nil, func() {}
	}
	return f, f.mu.Unlock
}

// allWaiting returns the unborn files of a directory.
func (v *view) allWaiting(parent int64) map[string]*file {
	if !v.live {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.unborn[parent])
}

// conceive makes a file that is open and not in the database.
func (v *view) conceive(parent int64, name string, mode uint32, now time.Time) *file {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lastMade--
	f := &file{view: v, who: &identity{number: v.lastMade}, parent: parent, name: name, opens: 1, described: true}
	f.meta = meta{mode: mode, mtime: now}
	v.files[f.who.number] = f
	v.unborn.add(f)
	return f
}

// bear brings an unborn file into the database, with what it has by now, in one
// commit. The caller holds f.mu.
func (f *file) bear(digest *stardust.Digest) error {
	made, err := f.view.tree.Create(stardust.NewNode{Name: f.name, Parent: f.parent, Digest: digest, File: f.meta.kept()})
	f.view.changes.Add(1)
	if err != nil {
		return err
	}
	f.view.mu.Lock()
	defer f.view.mu.Unlock()
	f.who.entity.Store(made[0].Entity)
	f.view.made[made[0].Entity] = f.who
	f.view.files[made[0].Entity] = f
	f.view.unborn.drop(f)
	return nil
}

// unbornRemoved removes a file that is not in the database, and returns false when
// it is by now.
func (f *file) unbornRemoved() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.who.entity.Load() != 0 {
		return false
	}
	f.bury()
	return true
}

// bury takes the name of an unborn file away. The caller holds f.mu.
func (f *file) bury() {
	f.meta.removed = true
	f.view.mu.Lock()
	defer f.view.mu.Unlock()
	f.view.unborn.drop(f)
	if f.opens == 0 {
		delete(f.view.files, f.who.number)
		f.close()
	}
}

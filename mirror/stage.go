package mirror

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// staged is a local copy in the making: a claimed name and a temporary file.
// Exactly one of install and discard is called; discard after install does
// nothing. It is not safe for concurrent use, but w is.
type staged struct {
	d      *localDir
	path   objectstore.Path
	name   fileName
	hashed bool
	number uint64 // of the temporary file
	temp   string // full name
	w      vfs.Writer
	info   vfs.Info // of the finished file
	closed bool     // finished
	done   bool
}

// stage begins a local copy of path. The error is a Local, or wraps
// objectstore.ErrInvalidPath.
func (d *localDir) stage(ctx context.Context, path objectstore.Path) (*staged, error) {
	name, hashed, err := d.layout.claim(path)
	if err != nil {
		if errors.Is(err, objectstore.ErrInvalidPath) {
			return nil, err
		}
		return nil, local("name the local copy", path, err)
	}
	s := &staged{d: d, path: path, name: name, hashed: hashed, number: d.counter.Add(1)}
	s.temp = d.join(name.temp(s.number))
	err = d.files.spare(ctx, func() (err error) {
		s.w, err = d.fs.Create(s.temp)
		return err
	})
	if err != nil {
		d.layout.release(path, hashed)
		d.stats.localErrors.Add(1)
		return nil, local("create the temporary file", path, err)
	}
	return s, nil
}

// write writes to the temporary file. The error is a Local.
func (s *staged) write(p []byte, off int64) error {
	_, err := s.w.WriteAt(p, off)
	return local("write the temporary file", s.path, err)
}

// finish ends the writing, unless it has ended: no write can fail any more. The
// error is a Local.
func (s *staged) finish() (err error) {
	if s.closed {
		return nil
	}
	if s.info, err = s.w.Finish(); err != nil {
		return local("finish the temporary file", s.path, err)
	}
	s.closed = true
	return nil
}

// discard gives the copy up.
func (s *staged) discard() {
	if s.done {
		return
	}
	s.done = true
	_ = s.w.Close()
	s.d.cleanTemp(s.path, s.temp)
	s.d.layout.release(s.path, s.hashed)
}

// install makes the temporary file, whole by now, the local copy of its path:
// first the .meta file, then the object. On a Local error nothing is left of
// it, nor of an earlier copy that it may have damaged.
func (s *staged) install(ctx context.Context, md metadata) (*entry, error) {
	defer s.discard()
	d := s.d
	e := newEntry(md)
	e.hashed = s.hashed
	if err := s.finish(); err != nil {
		return nil, err
	}
	e.dataTime = s.info.ModTime.UnixNano()
	metaTemp, metaInfo, err := s.writeMeta(ctx, md)
	if err != nil {
		return nil, err
	}
	e.metaTime, e.metaSize = metaInfo.ModTime.UnixNano(), metaInfo.Size
	if err := s.publish(metaTemp, e); err != nil {
		return nil, err
	}
	if d.watcher != nil {
		d.watcher.Installed(s.path, e.size, d.handle)
	}
	return e, nil
}

// publish renames the files into place and makes e the path's entry.
func (s *staged) publish(metaTemp string, e *entry) error {
	d := s.d
	d.swap.Lock()
	defer d.swap.Unlock()
	if err := d.fs.Rename(metaTemp, d.join(s.name.meta())); err != nil {
		d.cleanTemp(s.path, metaTemp)
		return local("rename the .meta file into place", s.path, err)
	}
	if err := d.fs.Rename(s.temp, d.join(s.name.object())); err != nil {
		// A new .meta with an old object: neither is worth keeping.
		_, _ = d.remove(s.path)
		_ = d.unlink(s.path, s.name)
		return local("rename the object into place", s.path, err)
	}
	s.done = true
	d.leftovers.set(s.path, false)
	if old := d.index.put(s.path, e); old != nil {
		d.files.retire(old)
		if old.hashed != e.hashed {
			_ = d.unlink(s.path, d.layout.name(s.path, old.hashed))
		}
		// Two claims of the path, of the old copy and of this one, become one.
		d.layout.release(s.path, old.hashed)
	}
	return nil
}

// writeMeta writes the .meta file under a temporary name, which it returns.
func (s *staged) writeMeta(ctx context.Context, md metadata) (name string, info vfs.Info, err error) {
	d := s.d
	data, err := encodeMeta(s.path, md)
	if err != nil {
		return "", vfs.Info{}, local("encode the .meta file", s.path, err)
	}
	name = d.join(s.name.metaTemp(d.counter.Add(1)))
	var w vfs.Writer
	err = d.files.spare(ctx, func() (err error) {
		w, err = d.fs.Create(name)
		return err
	})
	if err != nil {
		return "", vfs.Info{}, local("create the .meta file", s.path, err)
	}
	if _, err = w.WriteAt(data, 0); err == nil {
		info, err = w.Finish()
	}
	if err != nil {
		_ = w.Close()
		d.cleanTemp(s.path, name)
		return "", vfs.Info{}, local("write the .meta file", s.path, err)
	}
	return name, info, nil
}

// cleanTemp removes a temporary file. What can't be removed now is at the next
// startup.
func (d *localDir) cleanTemp(path objectstore.Path, name string) {
	if err := d.fs.Remove(name); err != nil {
		d.stats.localErrors.Add(1)
		d.logger.Warn("temporary file can't be removed", "path", path, "file", name, "error", err)
	}
}

package local

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// Staged is a local copy in the making: a claimed name and a temporary file.
// Exactly one of install and discard is called; discard after install does
// nothing. It is not safe for concurrent use, but w is.
type Staged struct {
	d      *Dir
	Path   objectstore.Path
	Name   FileName
	hashed bool
	Number uint64 // of the temporary file
	Temp   string // full name
	W      vfs.Writer
	info   vfs.Info // of the finished file
	Closed bool     // finished
	done   bool
}

// Stage begins a local copy of path. The error is a Local, or wraps
// objectstore.ErrInvalidPath.
func (d *Dir) Stage(ctx context.Context, path objectstore.Path) (*Staged, error) {
	name, hashed, err := d.Layout.claim(path)
	if err != nil {
		if errors.Is(err, objectstore.ErrInvalidPath) {
			return nil, err
		}
		return nil, Fail("name the local copy", path, err)
	}
	s := &Staged{d: d, Path: path, Name: name, hashed: hashed, Number: d.Counter.Add(1)}
	s.Temp = d.Join(name.Temp(s.Number))
	err = d.Files.Spare(ctx, func() (err error) {
		s.W, err = d.FS.Create(s.Temp)
		return err
	})
	if err != nil {
		d.Layout.release(path, hashed)
		d.Tally.Errors.Add(1)
		return nil, Fail("create the temporary file", path, err)
	}
	return s, nil
}

// Write writes to the temporary file. The error is a Local.
func (s *Staged) Write(p []byte, off int64) error {
	_, err := s.W.WriteAt(p, off)
	return Fail("write the temporary file", s.Path, err)
}

// Finish ends the writing, unless it has ended: no write can fail any more. The
// error is a Local.
func (s *Staged) Finish() (err error) {
	if s.Closed {
		return nil
	}
	if s.info, err = s.W.Finish(); err != nil {
		return Fail("finish the temporary file", s.Path, err)
	}
	s.Closed = true
	return nil
}

// Discard gives the copy up.
func (s *Staged) Discard() {
	if s.done {
		return
	}
	s.done = true
	_ = s.W.Close()
	s.d.CleanTemp(s.Path, s.Temp)
	s.d.Layout.release(s.Path, s.hashed)
}

// Install makes the temporary file, whole by now, the local copy of its path:
// first the .meta file, then the object. On a Local error nothing is left of
// it, nor of an earlier copy that it may have damaged.
func (s *Staged) Install(ctx context.Context, md Metadata) (*Entry, error) {
	defer s.Discard()
	d := s.d
	e := newEntry(md)
	e.hashed = s.hashed
	if err := s.Finish(); err != nil {
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
	if d.Installed != nil {
		d.Installed(s.Path, e.Size)
	}
	return e, nil
}

// publish renames the files into place and makes e the path's entry.
func (s *Staged) publish(metaTemp string, e *Entry) error {
	d := s.d
	d.swap.Lock()
	defer d.swap.Unlock()
	if err := d.FS.Rename(metaTemp, d.Join(s.Name.Meta())); err != nil {
		d.CleanTemp(s.Path, metaTemp)
		return Fail("rename the .meta file into place", s.Path, err)
	}
	if err := d.FS.Rename(s.Temp, d.Join(s.Name.object())); err != nil {
		// A new .meta with an old object: neither is worth keeping.
		_, _ = d.Remove(s.Path)
		_ = d.unlink(s.Path, s.Name)
		return Fail("rename the object into place", s.Path, err)
	}
	s.done = true
	d.Leftovers.set(s.Path, false)
	if old := d.Index.put(s.Path, e); old != nil {
		d.Files.retire(old)
		if old.hashed != e.hashed {
			_ = d.unlink(s.Path, d.Layout.Name(s.Path, old.hashed))
		}
		// Two claims of the path, of the old copy and of this one, become one.
		d.Layout.release(s.Path, old.hashed)
	}
	return nil
}

// writeMeta writes the .meta file under a temporary name, which it returns.
func (s *Staged) writeMeta(ctx context.Context, md Metadata) (name string, info vfs.Info, err error) {
	d := s.d
	data, err := encodeMeta(s.Path, md)
	if err != nil {
		return "", vfs.Info{}, Fail("encode the .meta file", s.Path, err)
	}
	name = d.Join(s.Name.metaTemp(d.Counter.Add(1)))
	var w vfs.Writer
	err = d.Files.Spare(ctx, func() (err error) {
		w, err = d.FS.Create(name)
		return err
	})
	if err != nil {
		return "", vfs.Info{}, Fail("create the .meta file", s.Path, err)
	}
	if _, err = w.WriteAt(data, 0); err == nil {
		info, err = w.Finish()
	}
	if err != nil {
		_ = w.Close()
		d.CleanTemp(s.Path, name)
		return "", vfs.Info{}, Fail("write the .meta file", s.Path, err)
	}
	return name, info, nil
}

// CleanTemp removes a temporary file. What can't be removed now is at the next
// startup.
func (d *Dir) CleanTemp(path objectstore.Path, name string) {
	if err := d.FS.Remove(name); err != nil {
		d.Tally.Errors.Add(1)
		d.logger.Warn("temporary file can't be removed", "path", path, "file", name, "error", err)
	}
}

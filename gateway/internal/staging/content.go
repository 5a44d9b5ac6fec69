package staging

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// How the files of an upload end.
const (
	described  = ".upload"
	content    = ".part"
	unfinished = ".new"
)

// syncEach is how many bytes arrive between two that are made safe.
const syncEach = 64 << 20

func (a *Area) file(id, ending string) string { return filepath.Join(a.dir, id+ending) }

// take marks an upload as active, so that no other call changes it.
func (a *Area) take(id string) (Upload, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.uploads[id]
	switch {
	case u == nil:
		return Upload{}, ErrNotFound
	case u.Active:
		return Upload{}, ErrBusy
	}
	u.Active = true
	return *u, nil
}

// keep puts back an upload that was taken.
func (a *Area) keep(u *Upload) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := *u
	kept.Active = false
	a.uploads[u.ID] = &kept
}

// Append adds what a reader yields at an offset of an upload, which may lie before
// its own, then what follows is replaced, and not behind it. It returns how many bytes
// are safe on disk, also after an error, so that the upload goes on from there.
func (a *Area) Append(id string, offset int64, from io.Reader) (n int64, err error) {
	u, err := a.take(id)
	if err != nil {
		return 0, err
	}
	defer func() { a.keep(&u) }()
	if offset < 0 || offset > u.Offset || u.Done {
		return 0, errors.New("the upload has another offset")
	}
	before := u.Offset
	file, err := os.OpenFile(a.file(id, content), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // all that counts is synced
	if u.Offset = offset; offset < before {
		if err := a.save(&u); err != nil { // before bytes that count are overwritten
			return 0, err
		}
	}
	// What an earlier process wrote and did not make safe may be anything.
	if err := file.Truncate(offset); err != nil {
		return 0, err
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	from = io.LimitReader(from, u.Size-offset)
	for err == nil {
		var some int64
		some, err = io.CopyN(file, from, syncEach)
		if saved := a.advance(&u, file, some); saved != nil {
			return u.Offset - offset, saved
		}
	}
	if err == io.EOF {
		err = nil
	}
	return u.Offset - offset, err
}

// advance makes bytes safe and then counts them.
func (a *Area) advance(u *Upload, file *os.File, n int64) error {
	if n == 0 {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	next := *u
	next.Offset, next.Touched = u.Offset+n, a.options.Now().UTC()
	if err := a.save(&next); err != nil {
		return err
	}
	*u = next
	return nil
}

// Finish hands the bytes of an upload that is whole to a function, which stores them.
// When it returns nil the upload is done and its bytes are removed; after an error
// it may be finished again.
func (a *Area) Finish(id string, store func(u *Upload, from io.Reader) error) (err error) {
	u, err := a.take(id)
	if err != nil {
		return err
	}
	defer func() { a.keep(&u) }()
	if u.Done {
		return nil
	}
	if u.Offset != u.Size {
		return errors.New("bytes are missing")
	}
	file, err := os.OpenFile(a.file(id, content), os.O_RDONLY|os.O_CREATE, 0o600) // an empty one got no bytes
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was read
	given := u
	if err := store(&given, io.NewSectionReader(file, 0, u.Size)); err != nil {
		return err
	}
	// It is stored, whatever happens to what is kept of it here.
	u.Done, u.Touched = true, a.options.Now().UTC()
	if err := a.save(&u); err != nil {
		a.options.Logger.Warn("a finished upload is still described as unfinished", "upload", a.file(id, described), "error", err)
	}
	if err := os.Remove(a.file(id, content)); err != nil {
		a.options.Logger.Warn("the bytes of a finished upload are still there", "upload", a.file(id, content), "error", err)
	}
	return nil
}

// save writes the description of an upload, whole or not at all.
func (a *Area) save(u *Upload) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	temp := a.file(u.ID, unfinished)
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temp, a.file(u.ID, described))
	}
	if err != nil {
		_ = os.Remove(temp) // it is only space
	}
	return err
}

// remove removes an upload and, when it was the last, the directory. The caller
// holds mu.
func (a *Area) remove(id string) error {
	var all error
	for _, ending := range []string{content, described} {
		if err := os.Remove(a.file(id, ending)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	if all != nil {
		return all
	}
	delete(a.uploads, id)
	if len(a.uploads) == 0 {
		_ = os.Remove(a.dir) // unless something else is in it
	}
	return nil
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was read
	return io.ReadAll(io.LimitReader(file, maxDescription))
}

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// Dir is the directory of local copies: files, names, metadata in memory
// and open files. It installs and removes whole copies. Those who change the
// copy of a path hold the path's turn.
type Dir struct {
	FS     vfs.FS
	Dir    string // absolute
	Layout *Layout
	Index  *Index
	Files  *OpenFiles
	Tally  Tally
	logger *slog.Logger
	// installed and removed are told of every copy that comes or goes; may be nil.
	Installed func(path objectstore.Path, size int64)
	Removed   func(path objectstore.Path)

	Leftovers Leftovers

	Counter atomic.Uint64 // of temporary files
	// swap is held for reading while a copy's files are opened and for writing
	// while they are replaced: what is open is what its entry describes.
	swap sync.RWMutex
}

// New returns the directory dir, of which nothing is known yet. Up to
// maxIdle files are kept open for later reads; verify keeps their checksums.
func New(fs vfs.FS, dir string, clock Waiter, logger *slog.Logger, maxIdle int, verify bool) *Dir {
	return &Dir{
		FS: fs, Dir: dir, Layout: newLayout(), Index: newIndex(), logger: logger,
		Files: &OpenFiles{fs: fs, Clock: clock, maxIdle: maxIdle, verify: verify},
	}
}

// Tally counts what went wrong with the directory.
type Tally struct {
	Errors  atomic.Int64 // of local I/O
	Dropped atomic.Int64 // entries whose files were missing or cut
}

// Join returns the full name of a file in the directory.
func (d *Dir) Join(name string) string { return filepath.Join(d.Dir, name) }

// Contains reports whether there is a local copy of path.
func (d *Dir) Contains(path objectstore.Path) bool { return d.Index.Get(path) != nil }

// Open opens the local copy of path that e is, or the one that has replaced it
// meanwhile. It returns nil when there is none any more: a copy that is
// missing behind our back is dropped from the map, so that the next fetch
// downloads it again.
func (d *Dir) Open(ctx context.Context, path objectstore.Path, e *Entry) (*Handle, error) {
	for ; e != nil; e = d.Index.Get(path) {
		if h := d.Files.take(e); h != nil {
			return h, nil
		}
		h, err := d.openFile(ctx, path, e)
		switch {
		case err == nil && h != nil:
			return h, nil
		case err == nil:
			// Replaced or evicted in between.
		case errors.Is(err, fs.ErrNotExist):
			// Either it is being evicted, or someone else removed it.
			if d.Forget(path, e) {
				d.Tally.Dropped.Add(1)
				d.logger.Warn("local copy is missing", "path", path)
			}
		default:
			d.Tally.Errors.Add(1)
			return nil, Fail("open the local copy", path, err)
		}
	}
	return nil, nil
}

// openFile opens the file of e, with the block checksums that belong to it
// where reads are verified. It returns nil when e is not the copy any more.
func (d *Dir) openFile(ctx context.Context, path objectstore.Path, e *Entry) (*Handle, error) {
	d.swap.RLock()
	defer d.swap.RUnlock()
	if d.Index.Get(path) != e {
		return nil, nil
	}
	h, err := d.Files.open(ctx, e, d.Join(d.Layout.Name(path, e.hashed).object()))
	if err != nil || h.table == nil {
		return h, err
	}
	h.table.fill(func() []uint32 { return d.Blocks(context.WithoutCancel(ctx), path, e) })
	if h.table.sums == nil && e.Size > 0 && d.Index.Get(path) != e {
		return nil, d.Files.Discard(h) // evicted, and its .meta with it
	}
	return h, nil
}

// Forget drops the entry of path from memory: any when only is nil, else that
// one. It reports whether it did.
func (d *Dir) Forget(path objectstore.Path, only *Entry) bool {
	e := d.Index.remove(path, only)
	if e == nil {
		return false
	}
	d.Files.retire(e)
	d.Layout.release(path, e.hashed)
	if d.Removed != nil {
		d.Removed(path)
	}
	return true
}

// Remove removes the local copy of path, and its files even where the map has
// lost track of them. The caller holds the path's turn. It reports whether
// there was a copy.
func (d *Dir) Remove(path objectstore.Path) (bool, error) {
	had, err := d.removeFiles(path)
	d.Leftovers.set(path, err != nil)
	return had, err
}

func (d *Dir) removeFiles(path objectstore.Path) (bool, error) {
	e := d.Index.Get(path)
	plain, hashed := d.Layout.Name(path, false), d.Layout.Name(path, true)
	if e != nil {
		d.Forget(path, e)
		name := plain
		if e.hashed {
			name = hashed
		}
		return true, d.unlink(path, name)
	}
	// The plain name may be a twin's: it is this path's only if no other
	// claims it.
	name, form, err := d.Layout.claim(path)
	if err != nil {
		// Such a path never got a local copy.
		return false, nil
	}
	defer d.Layout.release(path, form)
	err = d.unlink(path, hashed)
	if !form {
		if e := d.unlink(path, name); err == nil {
			err = e
		}
	}
	return false, err
}

// unlink removes the files of a local name. The object goes first: it is what
// takes space, and a .meta without it is dropped at startup.
func (d *Dir) unlink(path objectstore.Path, name FileName) error {
	var errs error
	for _, file := range []string{name.object(), name.Meta()} {
		if err := d.FS.Remove(d.Join(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.Tally.Errors.Add(1)
			d.logger.Warn("local file can't be removed", "path", path, "file", file, "error", err)
			if errs == nil {
				errs = err // that of the other file is the same, as a rule
			}
		}
	}
	return Fail("remove the local copy", path, errs)
}

// Blocks returns the block checksums of the local copy of path that e is, nil
// when its .meta has none or is not the one of e.
func (d *Dir) Blocks(ctx context.Context, path objectstore.Path, e *Entry) []uint32 {
	data, err := d.Files.ReadFile(ctx, d.Join(d.Layout.Name(path, e.hashed).Meta()), MaxMeta)
	if err != nil {
		return nil
	}
	of, md, err := DecodeMeta(data)
	if err != nil || of != path || md.Size != e.Size || md.ETag != e.ETag() {
		return nil
	}
	return md.Blocks
}

var errFileTooLong = errors.New("file is too long")

// readFrom returns all bytes of r, which are at most limit.
func readFrom(r io.ReaderAt, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(r, 0, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", errFileTooLong, limit)
	}
	return data, nil
}

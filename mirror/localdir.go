package mirror

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

// localDir is the directory of local copies: files, names, metadata in memory
// and open files. It installs and removes whole copies. Those who change the
// copy of a path hold the path's turn.
type localDir struct {
	fs      vfs.FS
	dir     string // absolute
	layout  *layout
	index   *index
	files   *openFiles
	stats   *counters
	logger  *slog.Logger
	watcher LocalWatcher // may be nil
	handle  Handle       // for the watcher

	leftovers leftovers

	counter atomic.Uint64 // of temporary files
	// swap is held for reading while a copy's files are opened and for writing
	// while they are replaced: what is open is what its entry describes.
	swap sync.RWMutex
}

// join returns the full name of a file in the directory.
func (d *localDir) join(name string) string { return filepath.Join(d.dir, name) }

// contains reports whether there is a local copy of path.
func (d *localDir) contains(path objectstore.Path) bool { return d.index.get(path) != nil }

// open opens the local copy of path that e is, or the one that has replaced it
// meanwhile. It returns nil when there is none any more: a copy that is
// missing behind our back is dropped from the map, so that the next fetch
// downloads it again.
func (d *localDir) open(ctx context.Context, path objectstore.Path, e *entry) (*handle, error) {
	for ; e != nil; e = d.index.get(path) {
		if h := d.files.take(e); h != nil {
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
			if d.forget(path, e) {
				d.stats.staleDropped.Add(1)
				d.logger.Warn("local copy is missing", "path", path)
			}
		default:
			d.stats.localErrors.Add(1)
			return nil, local("open the local copy", path, err)
		}
	}
	return nil, nil
}

// openFile opens the file of e, with the block checksums that belong to it
// where reads are verified. It returns nil when e is not the copy any more.
func (d *localDir) openFile(ctx context.Context, path objectstore.Path, e *entry) (*handle, error) {
	d.swap.RLock()
	defer d.swap.RUnlock()
	if d.index.get(path) != e {
		return nil, nil
	}
	h, err := d.files.open(ctx, e, d.join(d.layout.name(path, e.hashed).object()))
	if err != nil || h.table == nil {
		return h, err
	}
	h.table.fill(func() []uint32 { return d.blocks(context.WithoutCancel(ctx), path, e) })
	if h.table.sums == nil && e.size > 0 && d.index.get(path) != e {
		return nil, d.files.discard(h) // evicted, and its .meta with it
	}
	return h, nil
}

// forget drops the entry of path from memory: any when only is nil, else that
// one. It reports whether it did.
func (d *localDir) forget(path objectstore.Path, only *entry) bool {
	e := d.index.remove(path, only)
	if e == nil {
		return false
	}
	d.files.retire(e)
	d.layout.release(path, e.hashed)
	if d.watcher != nil {
		d.watcher.Removed(path)
	}
	return true
}

// remove removes the local copy of path, and its files even where the map has
// lost track of them. The caller holds the path's turn. It reports whether
// there was a copy.
func (d *localDir) remove(path objectstore.Path) (bool, error) {
	had, err := d.removeFiles(path)
	d.leftovers.set(path, err != nil)
	return had, err
}

func (d *localDir) removeFiles(path objectstore.Path) (bool, error) {
	e := d.index.get(path)
	plain, hashed := d.layout.name(path, false), d.layout.name(path, true)
	if e != nil {
		d.forget(path, e)
		name := plain
		if e.hashed {
			name = hashed
		}
		return true, d.unlink(path, name)
	}
	// The plain name may be a twin's: it is this path's only if no other
	// claims it.
	name, form, err := d.layout.claim(path)
	if err != nil {
		// Such a path never got a local copy.
		return false, nil
	}
	defer d.layout.release(path, form)
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
func (d *localDir) unlink(path objectstore.Path, name fileName) error {
	var errs error
	for _, file := range []string{name.object(), name.meta()} {
		if err := d.fs.Remove(d.join(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.stats.localErrors.Add(1)
			d.logger.Warn("local file can't be removed", "path", path, "file", file, "error", err)
			if errs == nil {
				errs = err // that of the other file is the same, as a rule
			}
		}
	}
	return local("remove the local copy", path, errs)
}

// blocks returns the block checksums of the local copy of path that e is, nil
// when its .meta has none or is not the one of e.
func (d *localDir) blocks(ctx context.Context, path objectstore.Path, e *entry) []uint32 {
	data, err := d.files.readFile(ctx, d.join(d.layout.name(path, e.hashed).meta()), maxMeta)
	if err != nil {
		return nil
	}
	of, md, err := decodeMeta(data)
	if err != nil || of != path || md.size != e.size || md.etag != e.etag() {
		return nil
	}
	return md.blocks
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

package mirror

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// tempsAtOnce is how many left-over temporary files Open removes itself; the
// rest go in the background, so that they don't delay the first read.
const tempsAtOnce = 1000

// pair is what the directory holds of a local copy.
type pair struct {
	data, meta         bool
	dataSize, metaSize int64
	dataTime, metaTime int64 // nanoseconds since 1970
}

// recovery brings the directory and the map in line at startup (RFC 0034,
// Startup, steps 4 to 6).
type recovery struct {
	d      *localDir
	pairs  map[fileName]pair
	temps  []string // of temporary files
	result StartupResult
}

// list finds out what is in the directory.
func (r *recovery) list(ctx context.Context) error {
	var last uint64
	unfinishedIndex := false
	for file, err := range r.d.fs.List(r.d.dir) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return local("list the directory", "", err)
		}
		kind, name, counter := classify(file.Name)
		unfinishedIndex = unfinishedIndex || file.Regular && file.Name == indexTempName
		if !file.Regular || kind == foreignFile {
			continue
		}
		switch kind {
		case tempFile:
			r.temps = append(r.temps, file.Name)
			last = max(last, counter)
		case objectFile:
			p := r.pairs[name]
			p.data, p.dataSize, p.dataTime = true, file.Size, file.ModTime.UnixNano()
			r.pairs[name] = p
		case metaFile:
			p := r.pairs[name]
			p.meta, p.metaSize, p.metaTime = true, file.Size, file.ModTime.UnixNano()
			r.pairs[name] = p
		case foreignFile:
		}
	}
	if unfinishedIndex {
		r.d.cleanTemp("", r.d.join(indexTempName))
	}
	// New temporary files must not meet old ones that are still there.
	r.d.counter.Store(last)
	r.result.Temporary = len(r.temps)
	return nil
}

// removeTemps removes up to n temporary files, or all when n is negative.
func (r *recovery) removeTemps(ctx context.Context, n int) {
	if n < 0 || n > len(r.temps) {
		n = len(r.temps)
	}
	for _, name := range r.temps[:n] {
		if ctx.Err() != nil {
			return
		}
		r.d.cleanTemp("", r.d.join(name))
	}
	r.temps = r.temps[n:]
}

// fromIndex takes over what the startup index says about copies whose files
// are as it says. A missing or damaged index only costs time.
func (r *recovery) fromIndex(ctx context.Context) error {
	file, err := r.d.fs.Open(r.d.join(indexName))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.d.logger.Warn("startup index can't be read", "error", err)
		}
		return nil
	}
	defer func() { _ = file.Close() }()
	for x, err := range readIndex(file) {
		if ctx.Err() != nil {
			return local("read the startup index", "", ctx.Err())
		}
		if err != nil {
			r.d.logger.Warn("startup index is damaged", "error", err)
			return nil
		}
		name := r.d.layout.name(x.path, x.entry.hashed)
		p, ok := r.pairs[name]
		e := x.entry
		if !ok || !p.data || !p.meta || p.dataSize != e.size || p.dataTime != e.dataTime || p.metaSize != e.metaSize || p.metaTime != e.metaTime {
			continue
		}
		if r.adopt(x.path, name, e) == nil {
			r.result.FromIndex++
			delete(r.pairs, name)
		}
	}
	return nil
}

// adopt makes a copy found in the directory known.
func (r *recovery) adopt(path objectstore.Path, name fileName, e *entry) error {
	if r.d.contains(path) {
		return errors.New("the path has another local copy")
	}
	hashed, err := r.d.layout.adopt(path, name)
	if err != nil {
		return err
	}
	e.hashed = hashed
	r.d.index.put(path, e)
	r.result.Recovered++
	return nil
}

// found is a pair with what its .meta file says.
type found struct {
	name fileName
	pair pair
	path objectstore.Path
	md   metadata
	err  error
	// unread: the .meta file could not be read, so that nothing is known
	// against the pair.
	unread bool
}

// fromMeta reads the .meta files of the pairs left, and removes what is not
// valid: a missing partner, malformed metadata, a path that has another local
// name, another size, or a conflicting prefix.
func (r *recovery) fromMeta(ctx context.Context) error {
	names := make([]fileName, 0, len(r.pairs))
	for name := range r.pairs {
		names = append(names, name)
	}
	slices.Sort(names) // so that a directory is always read in the same way
	const chunk = 4096
	for len(names) > 0 {
		n := min(chunk, len(names))
		all := r.read(ctx, names[:n])
		if err := ctx.Err(); err != nil {
			// What could not be read for that reason is as good as before.
			return local("read the .meta files", "", err)
		}
		for _, f := range all {
			if err := r.settle(f); err != nil {
				return err
			}
		}
		names = names[n:]
	}
	r.pairs = nil
	return nil
}

// read reads .meta files side by side and returns them in order.
func (r *recovery) read(ctx context.Context, names []fileName) []found {
	all := make([]found, len(names))
	var wg sync.WaitGroup
	workers := min(4*runtime.GOMAXPROCS(0), len(names))
	for worker := range workers {
		wg.Go(func() {
			for i := worker; i < len(names) && ctx.Err() == nil; i += workers {
				all[i] = r.readMeta(ctx, names[i])
			}
		})
	}
	wg.Wait()
	return all
}

func (r *recovery) readMeta(ctx context.Context, name fileName) found {
	f := found{name: name, pair: r.pairs[name]}
	switch {
	case !f.pair.data:
		f.err = errors.New("the object file is missing")
	case !f.pair.meta:
		f.err = errors.New("the .meta file is missing")
	default:
		var data []byte
		data, f.err = r.d.files.readFile(ctx, r.d.join(name.meta()), maxMeta)
		f.unread = f.err != nil && !errors.Is(f.err, fs.ErrNotExist) && !errors.Is(f.err, errFileTooLong)
		if f.err == nil {
			f.path, f.md, f.err = decodeMeta(data)
		}
	}
	if f.err == nil && f.md.size != f.pair.dataSize {
		f.err = errors.New("the object file has another size")
	}
	f.md.blocks = nil // not kept in memory
	return f
}

// settle makes a copy known, or removes its files when they are known not to be
// one.
func (r *recovery) settle(f found) error {
	err := f.err
	switch {
	case f.unread && errors.Is(err, fs.ErrPermission):
		return local("read "+r.d.join(f.name.meta()), f.path, err)
	case f.unread:
		// A disk or network file system that stumbles must not cost the
		// copies. It is no copy now; the next download replaces it, the next
		// startup tries again.
		r.result.Unreadable++
		r.d.stats.localErrors.Add(1)
		r.d.logger.Warn("local copy can't be read and is left alone", "file", f.name.object(), "error", err)
		return nil
	}
	if err == nil {
		e := newEntry(f.md)
		e.dataTime, e.metaTime, e.metaSize = f.pair.dataTime, f.pair.metaTime, f.pair.metaSize
		if err = r.adopt(f.path, f.name, e); err == nil {
			return nil
		}
	}
	r.result.Invalid++
	r.d.logger.Warn("invalid local copy is removed", "file", f.name.object(), "path", f.path, "error", err)
	_ = r.d.unlink(f.path, f.name) // logged there; the next startup tries again
	return nil
}

// announce tells the policy which copies were found, oldest first.
func (r *recovery) announce() {
	if r.d.watcher == nil {
		return
	}
	all := r.d.index.all()
	slices.SortFunc(all, func(a, b indexed) int {
		if a.entry.dataTime != b.entry.dataTime {
			if a.entry.dataTime < b.entry.dataTime {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.path), string(b.path))
	})
	for _, x := range all {
		r.d.watcher.Installed(x.path, x.entry.size, r.d.handle)
	}
}

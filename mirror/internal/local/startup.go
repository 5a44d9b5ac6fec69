package local

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

// StartupResult is what Open found in the directory.
type StartupResult struct {
	// Recovered local copies, FromIndex of them without reading their .meta.
	Recovered, FromIndex int
	// Invalid entries were removed: a missing partner, malformed metadata, a
	// wrong name or size, or a conflicting prefix.
	Invalid int
	// Unreadable entries could not be read and were left alone; they are no
	// local copies for now.
	Unreadable int
	// Temporary files were removed, or are being removed in the background.
	Temporary int
}

// pair is what the directory holds of a local copy.
type pair struct {
	data, meta         bool
	dataSize, metaSize int64
	dataTime, metaTime int64 // nanoseconds since 1970
}

// Recovery brings the directory and the map in line at startup (RFC 0034,
// Startup, steps 4 to 6).
type Recovery struct {
	d      *Dir
	pairs  map[FileName]pair
	temps  []string // of temporary files
	Result StartupResult
}

// Recover reads the directory. A few temporary files are removed; finish removes
// the rest.
func (d *Dir) Recover(ctx context.Context) (*Recovery, error) {
	r := &Recovery{d: d, pairs: map[FileName]pair{}}
	if err := r.list(ctx); err != nil {
		return nil, err
	}
	r.removeTemps(ctx, tempsAtOnce)
	if err := r.fromIndex(ctx); err != nil {
		return nil, err
	}
	if err := r.fromMeta(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Unfinished reports whether there is something for finish to do.
func (r *Recovery) Unfinished() bool { return len(r.temps) > 0 }

// Finish removes the temporary files that are left, until ctx ends.
func (r *Recovery) Finish(ctx context.Context) { r.removeTemps(ctx, -1) }

// list finds out what is in the directory.
func (r *Recovery) list(ctx context.Context) error {
	var last uint64
	unfinishedIndex := false
	for file, err := range r.d.FS.List(r.d.Dir) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return Fail("list the directory", "", err)
		}
		kind, name, counter := Classify(file.Name)
		unfinishedIndex = unfinishedIndex || file.Regular && file.Name == indexTempName
		if !file.Regular || kind == foreignFile {
			continue
		}
		switch kind {
		case tempFile:
			r.temps = append(r.temps, file.Name)
			last = max(last, counter)
		case ObjectFile:
			p := r.pairs[name]
			p.data, p.dataSize, p.dataTime = true, file.Size, file.ModTime.UnixNano()
			r.pairs[name] = p
		case MetaFile:
			p := r.pairs[name]
			p.meta, p.metaSize, p.metaTime = true, file.Size, file.ModTime.UnixNano()
			r.pairs[name] = p
		case foreignFile:
		}
	}
	if unfinishedIndex {
		r.d.CleanTemp("", r.d.Join(indexTempName))
	}
	// New temporary files must not meet old ones that are still there.
	r.d.Counter.Store(last)
	r.Result.Temporary = len(r.temps)
	return nil
}

// removeTemps removes up to n temporary files, or all when n is negative.
func (r *Recovery) removeTemps(ctx context.Context, n int) {
	if n < 0 || n > len(r.temps) {
		n = len(r.temps)
	}
	for _, name := range r.temps[:n] {
		if ctx.Err() != nil {
			return
		}
		r.d.CleanTemp("", r.d.Join(name))
	}
	r.temps = r.temps[n:]
}

// fromIndex takes over what the startup index says about copies whose files
// are as it says. A missing or damaged index only costs time.
func (r *Recovery) fromIndex(ctx context.Context) error {
	file, err := r.d.FS.Open(r.d.Join(indexName))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.d.logger.Warn("startup index can't be read", "error", err)
		}
		return nil
	}
	defer func() { _ = file.Close() }()
	for x, err := range readIndex(file) {
		if ctx.Err() != nil {
			return Fail("read the startup index", "", ctx.Err())
		}
		if err != nil {
			r.d.logger.Warn("startup index is damaged", "error", err)
			return nil
		}
		name := r.d.Layout.Name(x.Path, x.Entry.hashed)
		p, ok := r.pairs[name]
		e := x.Entry
		if !ok || !p.data || !p.meta || p.dataSize != e.Size || p.dataTime != e.dataTime || p.metaSize != e.metaSize || p.metaTime != e.metaTime {
			continue
		}
		if r.adopt(x.Path, name, e) == nil {
			r.Result.FromIndex++
			delete(r.pairs, name)
		}
	}
	return nil
}

// adopt makes a copy found in the directory known.
func (r *Recovery) adopt(path objectstore.Path, name FileName, e *Entry) error {
	if r.d.Contains(path) {
		return errors.New("the path has another local copy")
	}
	hashed, err := r.d.Layout.adopt(path, name)
	if err != nil {
		return err
	}
	e.hashed = hashed
	r.d.Index.put(path, e)
	r.Result.Recovered++
	return nil
}

// found is a pair with what its .meta file says.
type found struct {
	name FileName
	pair pair
	path objectstore.Path
	md   Metadata
	err  error
	// unread: the .meta file could not be read, so that nothing is known
	// against the pair.
	unread bool
}

// fromMeta reads the .meta files of the pairs left, and removes what is not
// valid: a missing partner, malformed metadata, a path that has another local
// name, another size, or a conflicting prefix.
func (r *Recovery) fromMeta(ctx context.Context) error {
	names := make([]FileName, 0, len(r.pairs))
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
			return Fail("read the .meta files", "", err)
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
func (r *Recovery) read(ctx context.Context, names []FileName) []found {
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

func (r *Recovery) readMeta(ctx context.Context, name FileName) found {
	f := found{name: name, pair: r.pairs[name]}
	switch {
	case !f.pair.data:
		f.err = errors.New("the object file is missing")
	case !f.pair.meta:
		f.err = errors.New("the .meta file is missing")
	default:
		var data []byte
		data, f.err = r.d.Files.ReadFile(ctx, r.d.Join(name.Meta()), MaxMeta)
		f.unread = f.err != nil && !errors.Is(f.err, fs.ErrNotExist) && !errors.Is(f.err, errFileTooLong)
		if f.err == nil {
			f.path, f.md, f.err = DecodeMeta(data)
		}
	}
	if f.err == nil && f.md.Size != f.pair.dataSize {
		f.err = errors.New("the object file has another size")
	}
	f.md.Blocks = nil // not kept in memory
	return f
}

// settle makes a copy known, or removes its files when they are known not to be
// one.
func (r *Recovery) settle(f found) error {
	err := f.err
	switch {
	case f.unread && errors.Is(err, fs.ErrPermission):
		return Fail("read "+r.d.Join(f.name.Meta()), f.path, err)
	case f.unread:
		// A disk or network file system that stumbles must not cost the
		// copies. It is no copy now; the next download replaces it, the next
		// startup tries again.
		r.Result.Unreadable++
		r.d.Tally.Errors.Add(1)
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
	r.Result.Invalid++
	r.d.logger.Warn("invalid local copy is removed", "file", f.name.object(), "path", f.path, "error", err)
	_ = r.d.unlink(f.path, f.name) // logged there; the next startup tries again
	return nil
}

// Announce tells the policy which copies were found, oldest first.
func (r *Recovery) Announce() {
	if r.d.Installed == nil {
		return
	}
	all := r.d.Index.All()
	slices.SortFunc(all, func(a, b Indexed) int {
		if a.Entry.dataTime != b.Entry.dataTime {
			if a.Entry.dataTime < b.Entry.dataTime {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.Path), string(b.Path))
	})
	for _, x := range all {
		r.d.Installed(x.Path, x.Entry.Size)
	}
}

package transfer

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/stardustdb/stardust/internal/transfer/fileindex"
)

// openIndex opens the index of an earlier import, unless it is of another state,
// and begins a new one.
func (im *importer) openIndex() error {
	var err error
	if im.index.before, err = im.to.State(-1); err != nil {
		return err
	}
	im.update(func(r *Report) { r.Revision = im.index.before.Last })
	if im.o.Index == "" {
		return nil
	}
	if !im.o.ReadAll {
		im.index.reader = im.fittingIndex()
	}
	if im.o.DryRun {
		return nil
	}
	// Without an index the next import reads everything, and is right.
	im.index.writer, _ = fileindex.Create(im.o.Index, im.index.reader)
	return nil
}

// fittingIndex returns the index when all that it says is of this database and
// this source. It decides whether it tells of the tree as it is now.
func (im *importer) fittingIndex() *fileindex.Reader {
	r, err := fileindex.Open(im.o.Index)
	if err != nil {
		return nil
	}
	b := r.Binding()
	then, err := im.to.State(b.Revision)
	want := im.binding(then)
	if err == nil && b.Identity == want.Identity && b.Revision <= im.index.before.Last && b.Record == then.Record &&
		b.Source == want.Source && b.Into == want.Into && b.Keeps == want.Keeps {
		im.index.exact = b.Exact && then.Exact && b.Rules == want.Rules
		return r
	}
	_ = r.Close() // reading loses nothing
	return nil
}

// kept names what imports keep of each file beside its content: an index of one
// that kept something else says nothing of what is missing.
const kept = "mode,mtime,type,sparse"

// binding is what an index of this import is about.
func (im *importer) binding(s State) fileindex.Binding {
	return fileindex.Binding{
		Identity: s.Identity, Revision: s.Last, Record: s.Record, Exact: s.Exact,
		Source: im.o.Source, Into: im.into, Keeps: kept + im.o.Preserve.String(), Rules: im.rules(),
	}
}

// rules says what was left out on purpose.
func (im *importer) rules() string {
	text := im.o.Exclude.String()
	if im.o.DeleteExcluded {
		text += "\x00deleted"
	}
	if im.o.SkipCaches {
		text += "\x00caches"
	}
	if im.o.OneDevice {
		text += "\x00device"
	}
	return text
}

// closeIndex writes the new index. That it can't be written is no failure of the
// import.
func (im *importer) closeIndex() error {
	defer func() { _ = im.index.reader.Close() }() // reading loses nothing
	after, err := im.to.State(-1)
	if err != nil {
		if im.index.writer != nil {
			im.index.writer.Abandon()
		}
		return err
	}
	im.update(func(r *Report) { r.Revision = after.Last })
	if im.index.writer == nil {
		return nil
	}
	for path := range im.incomplete {
		im.index.writer.SetComplete(path, false)
	}
	_ = im.index.writer.Commit(im.binding(after))
	return nil
}

// record notes what became of an item.
func (im *importer) record(entries map[string][]fileindex.Entry, item *Item) {
	if im.index.writer == nil || !item.stat.exact || item.Entity == 0 {
		return
	}
	e := item.stat.entry(item.Name, item.looked)
	e.Entity, e.Revision = item.Entity, item.Revision
	parent := parentOf(item.path)
	entries[parent] = append(entries[parent], e)
}

// missing reports whether the file system has nothing at a path.
func (im *importer) missing(path string) bool {
	_, err := im.look(path)
	return absent(err)
}

// absent reports whether an error says that there is nothing at a path, be it that
// what leads to it is no directory.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }

// cacheTag is the name of a file that marks directories of caches, and cacheMark
// what it begins with: see bford.info/cachedir.
const (
	cacheTag  = "CACHEDIR.TAG"
	cacheMark = "Signature: 8a477f597d28d172789f06886806bc55"
)

// isCache reports whether a directory is marked as a cache.
func (im *importer) isCache(path string) bool {
	f, _, err := im.openKind(join(path, cacheTag), 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	begin := make([]byte, len(cacheMark))
	for n := 0; n < len(begin); {
		got, err := f.Read(begin[n:])
		if n += got; err != nil || got == 0 {
			break
		}
	}
	return string(begin) == cacheMark
}

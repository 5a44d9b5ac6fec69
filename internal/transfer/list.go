package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// sortedRun is how many entries of a directory are read at a time. They are
// stored in the order of their names, so that the rows of neighbors lie near each
// other and a listing reads few pages.
const sortedRun = 64 << 10

// listed is a name in a directory, with what is known of it.
type listed struct {
	name string
	stat stat
	err  error // why nothing is
}

// list calls fn with a directory's entries, a few at a time so that a directory
// of any size takes bounded memory. It reports whether it could read all of it;
// the error ends the import.
func (im *importer) list(ctx context.Context, path string, fn func(*listed) error) (whole bool, err error) {
	f, err := im.open(path)
	if err != nil {
		im.fail(path, err)
		return false, nil
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	for {
		var err error
		im.entries, err = readEntries(f, sortedRun, im.entries[:0])
		for i := range im.entries {
			if err := fn(&im.entries[i]); err != nil {
				return false, err
			}
		}
		entries := im.entries
		if err != nil && !errors.Is(err, io.EOF) {
			im.fail(path, err)
			return false, ctx.Err()
		}
		if err != nil || len(entries) == 0 {
			return true, ctx.Err()
		}
	}
}

// readEntries appends up to n entries, in the order of their names. It returns
// io.EOF, or none, at the end.
func readEntries(f fs.File, n int, entries []listed) ([]listed, error) {
	if dir, names, err := readNames(f, n); dir != nil {
		if !slices.IsSorted(names) {
			slices.Sort(names)
		}
		for _, name := range names {
			st, failed := statIn(dir, name)
			entries = append(entries, listed{name, st, failed})
		}
		return entries, err
	}
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return entries, errors.New("its file system cannot list it")
	}
	found, err := dir.ReadDir(n)
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range found {
		e := listed{name: entry.Name()}
		info, failed := entry.Info()
		if e.err = failed; failed == nil {
			e.stat = statOf(info)
		}
		entries = append(entries, e)
	}
	return entries, err
}

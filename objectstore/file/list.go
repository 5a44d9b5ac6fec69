package file

import (
	"context"
	"iter"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store. It reads directories as it comes to them
// and holds at most 32 Ki names of each that it is in. Objects that come and go
// meanwhile are yielded or not.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		l := &lister{store: s, prefix: options.Prefix, offset: options.Offset, batch: batchSize}
		l.object = func(meta objectstore.ObjectMeta) bool { return yield(meta, nil) }
		l.dir = func(ctx context.Context, dir string) (bool, error) { return l.walk(ctx, dir) }
		if _, err := l.start(ctx); err != nil {
			yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
		}
	}
}

// ListWithDelimiter implements objectstore.Store. A directory without any object
// below it is no common prefix.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result := &objectstore.ListResult{}
	l := &lister{store: s, prefix: options.Prefix, offset: options.Offset, batch: batchSize}
	l.object = func(meta objectstore.ObjectMeta) bool {
		result.Objects = append(result.Objects, meta)
		return true
	}
	l.dir = func(ctx context.Context, dir string) (bool, error) {
		found, err := s.hasObject(ctx, dir, options.Offset)
		if found {
			result.CommonPrefixes = append(result.CommonPrefixes, dir+"/")
		}
		return true, err
	}
	if _, err := l.start(ctx); err != nil {
		return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
	}
	return result, nil
}

// lister walks the tree in the order of the paths.
type lister struct {
	store          *Store
	prefix, offset string
	batch          int
	// object and dir handle what is met; false stops the walk.
	object func(objectstore.ObjectMeta) bool
	dir    func(ctx context.Context, dir string) (bool, error)
}

// start walks the directory that the prefix names.
func (l *lister) start(ctx context.Context) (goOn bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	dir := "."
	if slash := strings.LastIndexByte(l.prefix, '/'); slash >= 0 {
		dir = l.prefix[:slash]
		if checkPath(objectstore.Path(dir)) != nil {
			return true, nil // no object can be there
		}
	}
	return l.walk(ctx, dir)
}

// walk handles what is in dir, a valid path or ".".
func (l *lister) walk(ctx context.Context, dir string) (goOn bool, err error) {
	base := ""
	if dir != "." {
		base = dir + "/"
	}
	// The object of the directory itself sorts before all that is in it.
	if base != "" && strings.HasPrefix(base, l.prefix) && base > l.offset {
		if goOn, err := l.file(objectstore.Path(base)); err != nil || !goOn {
			return false, err
		}
	}
	last := ""
	for {
		batch, more, err := readBatch(l.store.root, dir, l.batch, func(key string) bool {
			return key > last && l.wanted(base+key)
		})
		if l.store.isMissing(err) {
			return true, nil // never there, or gone meanwhile
		}
		if err != nil {
			return false, err
		}
		for _, e := range batch {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			var goOn bool
			if e.dir {
				goOn, err = l.dir(ctx, base+strings.TrimSuffix(e.key, "/"))
			} else {
				goOn, err = l.file(objectstore.Path(base + e.key))
			}
			if err != nil || !goOn {
				return false, err
			}
		}
		if !more {
			return true, nil
		}
		last = batch[len(batch)-1].key
	}
}

// wanted reports whether path, which ends in "/" for a directory, is or may
// hold what is to be listed.
func (l *lister) wanted(path string) bool {
	if checkPath(objectstore.Path(strings.TrimSuffix(path, "/"))) != nil {
		return false
	}
	if !strings.HasSuffix(path, "/") {
		return strings.HasPrefix(path, l.prefix) && (l.offset == "" || path > l.offset)
	}
	return strings.HasPrefix(path, l.prefix) && (path > l.offset || strings.HasPrefix(l.offset, path))
}

func (l *lister) file(path objectstore.Path) (goOn bool, err error) {
	meta, err := l.store.stat(path)
	if meta == nil || err != nil {
		return err == nil, err
	}
	return l.object(*meta), nil
}

// hasObject reports whether there is an object below dir, after the offset.
func (s *Store) hasObject(ctx context.Context, dir, offset string) (found bool, err error) {
	// The order does not matter where all of it is after the offset: a batch
	// of one is then the cheapest.
	l := &lister{store: s, prefix: dir + "/", offset: offset, batch: 1}
	if strings.HasPrefix(offset, dir+"/") {
		l.batch = batchSize
	}
	l.object = func(objectstore.ObjectMeta) bool { found = true; return false }
	l.dir = func(ctx context.Context, dir string) (bool, error) { return l.walk(ctx, dir) }
	_, err = l.start(ctx)
	return found, err
}

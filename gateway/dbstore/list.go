package dbstore

import (
	"container/heap"
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store, of one revision whatever is written meanwhile.
// It reads what it yields, and of a directory no more than that.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		l := &lister{store: s, ctx: ctx, prefix: options.Prefix, offset: options.Offset, yield: func(meta objectstore.ObjectMeta) bool {
			return yield(meta, nil)
		}}
		err := ctx.Err()
		if err == nil {
			err = l.run()
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
		}
	}
}

// ListWithDelimiter implements objectstore.Store.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result := &objectstore.ListResult{}
	l := &lister{store: s, ctx: ctx, prefix: options.Prefix, offset: options.Offset, shallow: true}
	l.yield = func(meta objectstore.ObjectMeta) bool {
		path := string(meta.Path)
		if isFolder(meta.Path) && path != options.Prefix {
			result.CommonPrefixes = append(result.CommonPrefixes, path)
		} else {
			result.Objects = append(result.Objects, meta)
		}
		return true
	}
	err := ctx.Err()
	if err == nil {
		err = l.run()
	}
	if err != nil {
		return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
	}
	return result, nil
}

// errStop ends a walk when the consumer stops.
var errStop = errors.New("the list is not wanted any more")

// lister walks directories in the order of the keys.
type lister struct {
	store          *Store
	ctx            context.Context //nolint:containedctx // no longer than a list
	tree           stardust.Tree
	prefix, offset string
	shallow        bool // yield directories rather than what is in them
	yield          func(objectstore.ObjectMeta) bool
}

func (l *lister) run() error {
	var err error
	if l.tree, err = l.store.view(l.ctx); err != nil {
		return err
	}
	// Begin in the directory that the prefix names.
	base := l.prefix[:strings.LastIndexByte(l.prefix, '/')+1]
	entity, err := l.store.root(l.tree)
	if base == "" || err != nil {
		if err == nil {
			err = l.walk(entity, "")
		}
		return err
	}
	if checkPath(objectstore.Path(base)) != nil {
		return nil // no object is there
	}
	record, err := l.tree.Resolve(l.store.in(objectstore.Path(base)))
	switch {
	case errors.Is(err, stardust.StatusNotFound), errors.Is(err, stardust.StatusInvalidArgument), err == nil && record.Kind != stardust.KindDirectory:
		return nil
	case err != nil:
		return err
	}
	return l.directory(record, base)
}

// directory yields what is in one, or itself when nothing is.
func (l *lister) directory(record stardust.Record, base string) error {
	if l.wantsObject(base) {
		empty := true
		for _, err := range l.tree.Children(record.Entity) {
			if err != nil {
				return err
			}
			empty = false
			break
		}
		if empty {
			return l.emit(base, record)
		}
	}
	return l.walk(record.Entity, base)
}

// walk yields what is in a directory whose keys begin with base. A tree is in
// the order of its names; a directory "a" has the key "a/", after a file "a.b",
// and is held back until then.
func (l *lister) walk(entity int64, base string) error {
	var held directories
	from := l.first(base)
	for _, name := range from.earlier() {
		if err := l.lookup(entity, base, name, &held); err != nil {
			return err
		}
	}
	record, err := l.child(entity, from.name)
	if err != nil {
		return err
	}
	if record != nil {
		if err := l.meet(base, *record, &held); err != nil {
			return err
		}
	}
	for record, err := range l.tree.ChildrenAfter(entity, from.name) {
		if err != nil {
			return err
		}
		if beyond(base+record.Name, l.prefix) {
			break
		}
		if err := l.meet(base, record, &held); err != nil {
			return err
		}
	}
	return l.release(base, "", &held)
}

// beyond reports whether no key from here on has the prefix.
func beyond(key, prefix string) bool {
	return key > prefix && !strings.HasPrefix(key, prefix) && !strings.HasPrefix(prefix, key)
}

// child returns a directory's child by name, nil when there is none.
func (l *lister) child(entity int64, name string) (*stardust.Record, error) {
	if name == "" {
		return nil, nil
	}
	record, err := l.tree.Lookup(entity, name)
	if errors.Is(err, stardust.StatusNotFound) || errors.Is(err, stardust.StatusInvalidArgument) {
		return nil, nil
	}
	return &record, err
}

// lookup holds back the directory of that name, if it exists and may contain
// what is wanted.
func (l *lister) lookup(entity int64, base, name string, held *directories) error {
	record, err := l.child(entity, name)
	if err == nil && record != nil && record.Kind == stardust.KindDirectory && l.wantsBelow(base+name+"/") {
		heap.Push(held, *record)
	}
	return err
}

// meet takes the next child in the order of names.
func (l *lister) meet(base string, record stardust.Record, held *directories) error {
	if err := l.release(base, record.Name, held); err != nil {
		return err
	}
	if record.Kind == stardust.KindDirectory {
		if l.wantsBelow(base + record.Name + "/") {
			heap.Push(held, record)
		}
		return nil
	}
	if !l.wantsObject(base + record.Name) {
		return nil
	}
	return l.emit(base+record.Name, record)
}

// release lists the directories held that come before a name; all, for "".
func (l *lister) release(base, before string, held *directories) error {
	for len(*held) > 0 && (before == "" || (*held)[0].Name+"/" < before) {
		record := heap.Pop(held).(stardust.Record)
		key := base + record.Name + "/"
		var err error
		if l.shallow {
			var wanted bool
			if wanted, err = l.wantsPrefix(key, record); err == nil && wanted {
				err = l.emit(key, record)
			}
		} else {
			err = l.directory(record, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *lister) wantsObject(key string) bool {
	return strings.HasPrefix(key, l.prefix) && key > l.offset
}

// wantsBelow reports whether a directory, by its key with "/", may contain
// something to be listed.
func (l *lister) wantsBelow(key string) bool {
	return (strings.HasPrefix(key, l.prefix) || strings.HasPrefix(l.prefix, key)) &&
		(key > l.offset || strings.HasPrefix(l.offset, key))
}

// wantsPrefix reports whether a directory is a common prefix to be listed: something
// in it comes after the offset.
func (l *lister) wantsPrefix(key string, record stardust.Record) (bool, error) {
	if !strings.HasPrefix(key, l.prefix) || key > l.offset {
		return strings.HasPrefix(key, l.prefix), nil
	}
	found := false
	below := &lister{store: l.store, ctx: l.ctx, tree: l.tree, prefix: key, offset: l.offset}
	below.yield = func(objectstore.ObjectMeta) bool { found = true; return false }
	err := below.directory(record, key)
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

func (l *lister) emit(key string, record stardust.Record) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	if len(key) > objectstore.MaxPathLength {
		return nil // no client could ask for it
	}
	meta, err := l.store.meta(objectstore.Path(key), record)
	if err == nil && !l.yield(meta) {
		err = errStop
	}
	return err
}

// start is where a walk of a directory begins.
type start struct{ name string }

// first returns the least name in a directory that may be wanted.
func (l *lister) first(base string) start {
	after := func(bound string) string {
		rest, ok := strings.CutPrefix(bound, base)
		if !ok {
			return ""
		}
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	return start{max(after(l.prefix), after(l.offset))}
}

// earlier returns the names before the first that, as directories, come after it:
// "a" before "a-b", since its key is "a/".
func (s start) earlier() []string {
	var names []string
	for i := 1; i < len(s.name); i++ {
		if s.name[i] < '/' {
			names = append(names, s.name[:i])
		}
	}
	return names
}

// directories are held in the order of their keys.
type directories []stardust.Record

func (d directories) Len() int           { return len(d) }
func (d directories) Less(i, j int) bool { return d[i].Name+"/" < d[j].Name+"/" }
func (d directories) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *directories) Push(x any)        { *d = append(*d, x.(stardust.Record)) }
func (d *directories) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

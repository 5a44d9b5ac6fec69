package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// Objects are the operations of the objects plugin on one database, or on a
// [Snapshot] of it. It is a small value to copy; all methods may be called
// concurrently.
//
// Every operation returns an error of StatusUnavailable when the database
// does not enable the plugin, of StatusClosed when it is closed, of
// StatusEvaluationFailed when it comes across stored metadata that is damaged, of
// StatusIO when the operating system fails it, and of StatusCanceled when the
// context of WithContext ends first. Writes return StatusConflict while the
// database holds writes, and StatusUnavailable on a read-only database or a
// snapshot. What methods say of their errors is what comes besides. See the
// objects spec, "Operations".
type Objects struct {
	db  *DB
	at  int64
	ctx context.Context //nolint:containedctx // see WithContext
}

// WithContext returns the same operations bound to a context: they end with
// StatusCanceled when it ends, and streams opened through it stop reading and
// writing. It suits one request of a server; do not keep the result longer.
func (v Objects) WithContext(ctx context.Context) Objects {
	v.ctx = ctx
	return v
}

func (v Objects) context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// enabled checks that the database is open and has the objects plugin.
func (v Objects) enabled() error {
	switch {
	case v.db == nil:
		return commit.ErrClosed
	case v.db.options.Plugins.Objects == nil:
		return &Error{Status: StatusUnavailable, Message: "the database does not enable the objects plugin; open it with plugins {objects {}}"}
	}
	return nil
}

// writable checks that a write can be made through v.
func (v Objects) writable() error {
	if err := v.enabled(); err != nil {
		return err
	}
	if v.at != catalog.Live {
		return &Error{Status: StatusUnavailable, Code: CodeReadOnly, Message: "a snapshot shows the past and cannot be written"}
	}
	return v.db.writable()
}

// readOne runs a single query, which is a snapshot in itself.
func (v Objects) readOne(fn func(*catalog.View) error) error {
	if err := v.enabled(); err != nil {
		return err
	}
	return v.db.view(v.context(), v.at, false, fn)
}

// read runs queries that all see one snapshot.
func (v Objects) read(fn func(*catalog.View) error) error {
	if err := v.enabled(); err != nil {
		return err
	}
	return v.db.view(v.context(), v.at, true, fn)
}

// commit queues a write and waits for it.
func (v Objects) commit(plan func(*commit.Plan) error) (int64, error) {
	return v.db.commit(v.context(), commit.Write{Plan: plan})
}

// Get returns the record of a file or directory: an object with entity,
// parent, revision, name, kind and, for a file, size and digest.
//
// It returns StatusInvalidArgument when the entity is not a user entity (the
// root, 0, has no record), StatusNotFound when no node has it, and
// StatusEvaluationFailed when stored metadata is damaged.
func (v Objects) Get(entity int64) (*Document, error) {
	n, err := v.node(entity)
	if err != nil {
		return nil, withOp("objects.get", err)
	}
	return newDocument(recordValue(&n)), nil
}

// Record is Get as a Go value.
func (v Objects) Record(entity int64) (Record, error) {
	n, err := v.node(entity)
	if err != nil {
		return Record{}, withOp("objects.get", err)
	}
	return newRecord(&n), nil
}

func (v Objects) node(entity int64) (catalog.Node, error) {
	var n catalog.Node
	if err := checkEntity("entity", entity); err != nil {
		return n, err
	}
	found := false
	err := v.readOne(func(view *catalog.View) (err error) {
		n, found, err = view.Node(entity)
		return err
	})
	if err == nil && !found {
		err = notFound("entity %d: no file or directory has it", entity)
	}
	return n, err
}

// Lookup returns the record of a directory's child by name. Entity 0 is the
// root directory.
//
// It returns StatusInvalidArgument when the parent or the name is invalid or
// the parent is a file, and StatusNotFound when there is no such child or the
// parent does not exist.
func (v Objects) Lookup(parent int64, name string) (*Document, error) {
	n, err := v.child(parent, name)
	if err != nil {
		return nil, withOp("objects.lookup", err)
	}
	return newDocument(recordValue(&n)), nil
}

// LookupRecord is Lookup as a Go value.
func (v Objects) LookupRecord(parent int64, name string) (Record, error) {
	n, err := v.child(parent, name)
	if err != nil {
		return Record{}, withOp("objects.lookup", err)
	}
	return newRecord(&n), nil
}

func (v Objects) child(parent int64, name string) (catalog.Node, error) {
	var n catalog.Node
	if err := checkParent("parent", parent); err != nil {
		return n, err
	}
	if err := tree.CheckName(name); err != nil {
		return n, err
	}
	found := false
	err := v.readOne(func(view *catalog.View) (err error) {
		n, found, err = view.Child(parent, name)
		return err
	})
	if err != nil || found {
		return n, err
	}
	// Say why, in one snapshot that may show the child by now.
	err = v.read(func(view *catalog.View) (err error) {
		if err := tree.Directory(view, "parent", parent); err != nil {
			return err
		}
		n, found, err = view.Child(parent, name)
		if err == nil && !found {
			err = notFound("directory %d has no child %s", parent, tree.Quote(name))
		}
		return err
	})
	return n, err
}

// Children returns an array of the records of a directory's children in name
// order. It holds them all in memory; use [Objects.List] for directories
// without bound.
//
// It returns StatusInvalidArgument when the parent is invalid or a file, and
// StatusNotFound when it does not exist.
func (v Objects) Children(parent int64) (*Document, error) {
	const op = "objects.children"
	if err := checkParent("parent", parent); err != nil {
		return nil, withOp(op, err)
	}
	var items []dust.Value
	list := func(view *catalog.View) error {
		arena := recordArena{block: 512}
		items = items[:0]
		return view.Children(parent, "", func(n *catalog.Node) bool {
			items = append(items, arena.value(n))
			return true
		})
	}
	err := v.readOne(list)
	if err == nil && len(items) == 0 {
		// Say why, in one snapshot that may show children by now.
		err = v.read(func(view *catalog.View) error {
			if err := tree.Directory(view, "parent", parent); err != nil {
				return err
			}
			return list(view)
		})
	}
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(dust.NewArray(items...)), nil
}

// Path returns an array of the names from the root to a node. The root's path
// is empty.
//
// It returns StatusInvalidArgument when the entity is not a user entity, and
// StatusNotFound when the node or one of its ancestors does not exist.
func (v Objects) Path(entity int64) (*Document, error) {
	names, err := v.PathNames(entity)
	if err != nil {
		return nil, err
	}
	items := make([]dust.Value, len(names))
	for i, name := range names {
		items[i] = dust.NewString(name)
	}
	return newDocument(dust.NewArray(items...)), nil
}

// PathNames is Path as a Go value.
func (v Objects) PathNames(entity int64) ([]string, error) {
	const op = "objects.path"
	if err := checkParent("entity", entity); err != nil {
		return nil, withOp(op, err)
	}
	var names []string
	err := v.read(func(view *catalog.View) (err error) {
		names, err = tree.Path(view, entity)
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return names, nil
}

// Files returns an ascending array of the entities of the files that hold a
// payload. It is empty when none does, published or not.
//
// It returns StatusInvalidArgument when the digest is not 64 hexadecimal
// digits.
func (v Objects) Files(digest string) (*Document, error) {
	const op = "objects.files"
	d, err := parseDigest(digest)
	if err != nil {
		return nil, withOp(op, err)
	}
	var items []dust.Value
	err = v.read(func(view *catalog.View) error {
		p, found, err := view.Payload(d)
		if err != nil || !found {
			return err
		}
		return view.Files(p.ID, 0, func(entity int64) bool {
			items = append(items, dust.NewInt(entity))
			return true
		})
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return newDocument(dust.NewArray(items...)), nil
}

func checkEntity(member string, entity int64) error {
	if entity <= 0 {
		return invalid("%s: %d is not a user entity; they begin at 1", member, entity)
	}
	return nil
}

func checkParent(member string, entity int64) error {
	if entity < 0 {
		return invalid("%s: %d is not an entity; 0 is the root directory", member, entity)
	}
	return nil
}

func checkRevision(revision int64) error {
	if revision < 0 {
		return invalid("expectedRevision: %d is negative; 0 skips the check", revision)
	}
	return nil
}

package stardust

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// Objects are the operations of the objects plugin as the objects spec has them:
// they take and return a [Document] where [Tree] has Go values, and do the same
// otherwise, errors included. A digest is 64 hexadecimal digits in either case;
// anything else is StatusInvalidArgument. It is a small value to copy; all
// methods may be called concurrently.
type Objects struct{ tree Tree }

// Tree returns the same operations in Go values.
func (v Objects) Tree() Tree { return v.tree }

// WithContext is [Tree.WithContext].
func (v Objects) WithContext(ctx context.Context) Objects {
	return Objects{v.tree.WithContext(ctx)}
}

// Get returns the record of a file or directory: an object with entity, parent,
// revision, name, kind and, for a file, size and digest. See [Tree.Get].
func (v Objects) Get(entity int64) (*Document, error) {
	return recordDocument(v.tree.Get(entity))
}

// Lookup returns the record of a directory's child by name. Entity 0 is the root
// directory. See [Tree.Lookup].
func (v Objects) Lookup(parent int64, name string) (*Document, error) {
	return recordDocument(v.tree.Lookup(parent, name))
}

func recordDocument(r Record, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	return newDocument(recordValue(&r)), nil
}

// Children returns an array of the records of a directory's children in name
// order. It keeps them all in memory; for directories of any size use
// [Tree.Children], which has the same errors.
func (v Objects) Children(parent int64) (*Document, error) {
	const op = "objects.children"
	if err := v.tree.enabled(); err != nil {
		return nil, withOp(op, err)
	}
	if err := checkParent("parent", parent); err != nil {
		return nil, withOp(op, err)
	}
	var items []dust.Value
	list := func(view *catalog.View) error {
		arena := recordArena{block: 512}
		return view.Children(parent, "", func(n *catalog.Node) bool {
			r := newRecord(n)
			items = append(items, arena.value(&r))
			return true
		})
	}
	err := v.tree.readOne(list)
	if err == nil && len(items) == 0 {
		// Find out why, in a snapshot in which the children may have appeared.
		err = v.tree.read(func(view *catalog.View) error {
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
// is empty. See [Tree.Path].
func (v Objects) Path(entity int64) (*Document, error) {
	names, err := v.tree.Path(entity)
	return arrayDocument(names, dust.NewString, err)
}

// Files returns an ascending array of the entities of the files that hold a
// payload. It is empty when none does, published or not. See [Tree.Files].
func (v Objects) Files(digest string) (*Document, error) {
	d, err := v.digest("objects.files", digest)
	if err != nil {
		return nil, err
	}
	entities, err := v.tree.Files(d)
	return arrayDocument(entities, dust.NewInt, err)
}

func arrayDocument[T any](items []T, value func(T) dust.Value, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	values := make([]dust.Value, len(items))
	for i := range items {
		values[i] = value(items[i])
	}
	return newDocument(dust.NewArray(values...)), nil
}

// Manifest returns a published payload's manifest: {digest size chunks}, where
// chunks lists {digest size} in byte order and is left out for an empty
// payload. It holds the whole list in memory; [Tree.Chunks] streams it. See
// [Tree.Manifest].
func (v Objects) Manifest(digest string) (*Document, error) {
	d, err := v.digest("objects.manifest", digest)
	if err != nil {
		return nil, err
	}
	m, err := v.tree.Manifest(d)
	if err != nil {
		return nil, err
	}
	return newDocument(m.value()), nil
}

// Create creates files and directories in one commit, in order, and returns an
// array of their records. The document is an array of at most MaxNodes nodes.
// Each has a name, and parent (an entity, 0 by default) or under (the one-based
// position of an earlier directory of the array). A file also has digest
// {#sha256 hex}, which must be published. See [Tree.Create].
func (v Objects) Create(nodes *Document) (*Document, error) {
	const op = "objects.create"
	if err := v.tree.writable(); err != nil {
		return nil, withOp(op, err)
	}
	value, err := nodes.value()
	if err != nil {
		return nil, withOp(op, err)
	}
	parsed, err := parseNodes(value)
	if err != nil {
		return nil, withOp(op, err)
	}
	made, err := v.tree.Create(parsed...)
	return arrayDocument(made, func(r Record) dust.Value { return recordValue(&r) }, err)
}

// parseNodes reads the request of Create.
func parseNodes(v dust.Value) ([]NewNode, error) {
	items := v.Items()
	if v.Kind() != dust.Array {
		return nil, invalid("nodes: %v, want an array", v.Kind())
	}
	if err := checkCount(len(items)); err != nil {
		return nil, err
	}
	nodes := make([]NewNode, len(items))
	for i, item := range items {
		n, err := parseNode(fmt.Sprintf("nodes[%d]", i), item)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	return nodes, nil
}

func parseNode(place string, v dust.Value) (n NewNode, err error) {
	if v.Kind() != dust.Object {
		return n, invalid("%s: %v, want an object", place, v.Kind())
	}
	r := request{place: place, value: v}
	n.Name = r.needText("name")
	if d, ok := r.digest("digest", false); ok {
		n.Digest = &d
	}
	parent, hasParent := r.integer("parent")
	under, hasUnder := r.integer("under")
	r.end()
	switch {
	case r.err != nil:
	case hasParent && hasUnder:
		r.fail("under: stands beside parent; give one of them")
	case hasUnder && (under < 1 || under > MaxNodes):
		r.fail("under: %d is not the position of an earlier node; the first is 1", under)
	}
	n.Parent, n.Under = parent, int(under)
	return n, r.err
}

// Update points a file at another published payload and returns its record. See
// [Tree.Update].
func (v Objects) Update(entity int64, digest string, expectedRevision int64) (*Document, error) {
	d, err := v.writtenDigest("objects.update", digest)
	if err != nil {
		return nil, err
	}
	return recordDocument(v.tree.Update(entity, d, expectedRevision))
}

// Move renames or moves a node and returns its record. See [Tree.Move].
func (v Objects) Move(entity int64, parent int64, name string, expectedRevision int64, replace bool) (*Document, error) {
	return recordDocument(v.tree.Move(entity, parent, name, expectedRevision, replace))
}

// Remove removes a file or an empty directory. See [Tree.Remove].
func (v Objects) Remove(entity int64, expectedRevision int64) error {
	return v.tree.Remove(entity, expectedRevision)
}

// Upload opens a stream that writes one payload; see [PluginStream] and
// [Tree.Upload].
func (v Objects) Upload() (*PluginStream, error) { return v.tree.upload() }

// Open opens a stream that reads a published payload; see [PluginStream] and
// [Tree.Open].
func (v Objects) Open(digest string) (*PluginStream, error) {
	d, err := v.digest("objects.open", digest)
	if err != nil {
		return nil, err
	}
	return v.tree.open(d)
}

// History returns an array of an entity's versions, the oldest first: each is
// a record, with until (the revision that ended it) and removed (true) where
// they apply. See [Tree.History].
func (v Objects) History(entity int64) (*Document, error) {
	versions, err := v.tree.History(entity)
	return arrayDocument(versions, func(old Version) dust.Value { return old.value() }, err)
}

// digest reads the digest that an operation is given.
func (v Objects) digest(op, text string) (Digest, error) {
	if err := v.tree.enabled(); err != nil {
		return Digest{}, withOp(op, err)
	}
	d, err := parseDigest(text)
	return d, withOp(op, err)
}

// writtenDigest is digest for a write.
func (v Objects) writtenDigest(op, text string) (Digest, error) {
	if err := v.tree.writable(); err != nil {
		return Digest{}, withOp(op, err)
	}
	return v.digest(op, text)
}

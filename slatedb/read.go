package slatedb

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// ErrNoDatabase says that no manifest lies under the root, so there is no database.
var ErrNoDatabase = errors.New("no SlateDB database here: there is no manifest")

// Stored is a metadata object as a listing shows it.
type Stored struct {
	ID   uint64
	Meta objectstore.ObjectMeta
}

// ListManifests yields the manifests of the database at root, ascending. A
// yielded error ends the list.
func ListManifests(ctx context.Context, store objectstore.Store, root objectstore.Path) iter.Seq2[Stored, error] {
	return listNumbered(ctx, store, Name{Root: root, Kind: KindManifest}, false)
}

// ListCompactions yields the compactions objects of the database at root,
// ascending. A yielded error ends the list.
func ListCompactions(ctx context.Context, store objectstore.Store, root objectstore.Path) iter.Seq2[Stored, error] {
	return listNumbered(ctx, store, Name{Root: root, Kind: KindCompactions}, false)
}

// listNumbered lists the objects of one kind, all or those with a number
// greater than from's.
func listNumbered(ctx context.Context, store objectstore.Store, from Name, after bool) iter.Seq2[Stored, error] {
	options := &objectstore.ListOptions{Prefix: string(inRoot(from.Root, from.Kind.folder()+"/"))}
	if after {
		options.Offset = string(from.Path())
	}
	return func(yield func(Stored, error) bool) {
		for meta, err := range store.List(ctx, options) {
			if err != nil {
				yield(Stored{}, err)
				return
			}
			name, ok := ParseName(meta.Path)
			if !ok || name.Kind != from.Kind || name.Root != from.Root {
				continue // not SlateDB's
			}
			if !yield(Stored{name.Number, meta}, nil) {
				return
			}
		}
	}
}

// ReadManifest reads and decodes a manifest of the database at root. Its ID is
// the one in its name.
func ReadManifest(ctx context.Context, store objectstore.Store, root objectstore.Path, id uint64) (*Manifest, error) {
	path := ManifestPath(root, id)
	data, _, err := objectstore.ReadAll(ctx, store, path)
	if err != nil {
		return nil, err
	}
	return decodeManifestAt(path, id, data)
}

// decodeManifestAt decodes a manifest and gives it the ID in its name.
func decodeManifestAt(path objectstore.Path, id uint64, data []byte) (*Manifest, error) {
	m, err := DecodeManifest(data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", string(path), err)
	}
	m.ID = id
	return m, nil
}

// ReadCompactions reads and decodes a compactions object of the database at
// root. Its ID is the one in its name.
func ReadCompactions(ctx context.Context, store objectstore.Store, root objectstore.Path, id uint64) (*Compactions, error) {
	path := CompactionsPath(root, id)
	data, _, err := objectstore.ReadAll(ctx, store, path)
	if err != nil {
		return nil, err
	}
	return decodeCompactionsAt(path, id, data)
}

func decodeCompactionsAt(path objectstore.Path, id uint64, data []byte) (*Compactions, error) {
	cs, err := DecodeCompactions(data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", string(path), err)
	}
	cs.ID = id
	return cs, nil
}

// LatestManifest reads the newest manifest of the database at root. It returns
// ErrNoDatabase when there is none.
//
// Through a mirror with a [Policy] this warms the mirror: when it returns, every
// selected SST of the manifest is local.
func LatestManifest(ctx context.Context, store objectstore.Store, root objectstore.Path) (*Manifest, error) {
	return latest(ctx, store, ListManifests(ctx, store, root), func(id uint64) (*Manifest, error) {
		return ReadManifest(ctx, store, root, id)
	}, root)
}

// LatestCompactions reads the newest compactions object of the database at
// root. It returns nil when there is none, as in a database that never had a
// compactor.
func LatestCompactions(ctx context.Context, store objectstore.Store, root objectstore.Path) (*Compactions, error) {
	cs, err := latest(ctx, store, ListCompactions(ctx, store, root), func(id uint64) (*Compactions, error) {
		return ReadCompactions(ctx, store, root, id)
	}, root)
	if errors.Is(err, ErrNoDatabase) {
		return nil, nil
	}
	return cs, err
}

// latest reads the last of a list. A collector may have deleted it since, but
// only after a newer one was there, so the list is then read again.
func latest[T any](ctx context.Context, store objectstore.Store, list iter.Seq2[Stored, error], read func(id uint64) (*T, error), root objectstore.Path) (*T, error) {
	for previous := (Stored{}); ; {
		var last Stored
		for stored, err := range list {
			if err != nil {
				return nil, err
			}
			last = stored
		}
		if last.Meta.Path == "" {
			return nil, fmt.Errorf("%w under %q in %v", ErrNoDatabase, string(root), store)
		}
		value, err := read(last.ID)
		if !errors.Is(err, objectstore.ErrNotFound) || last.ID == previous.ID {
			return value, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		previous = last
	}
}

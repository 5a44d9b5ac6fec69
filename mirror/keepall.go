package mirror

import (
	"context"

	"github.com/stardustdb/stardust/objectstore"
)

// warmBatch is how many paths KeepAll asks for at a time.
const warmBatch = 256

// KeepAll is a Policy that keeps every object under a prefix. Its background
// work downloads those that the remote has already; until they are there,
// reads download what they need. The zero value keeps the whole remote.
type KeepAll struct {
	BasePolicy
	// Prefix is a plain string prefix of the paths to keep.
	Prefix string
	// WithoutWarming leaves the remote's objects to the first read of each.
	WithoutWarming bool
}

// ReadRoute implements Policy.
func (k *KeepAll) ReadRoute(path objectstore.Path, _ *objectstore.GetOptions) (ReadRoute, error) {
	if !hasPrefix(path, k.Prefix) {
		return ReadRemote, nil
	}
	return ReadThrough, nil
}

// PutRoute implements Policy.
func (k *KeepAll) PutRoute(path objectstore.Path, _ *objectstore.PutOptions) (WriteRoute, error) {
	if !hasPrefix(path, k.Prefix) {
		return WriteRemote, nil
	}
	return WriteMirror, nil
}

// MultipartRoute implements Policy.
func (k *KeepAll) MultipartRoute(path objectstore.Path, _ *objectstore.MultipartOptions) (MultipartRoute, error) {
	if !hasPrefix(path, k.Prefix) {
		return MultipartRemote, nil
	}
	return MultipartMirror, nil
}

// Run implements Policy: it downloads what the remote has, and returns.
func (k *KeepAll) Run(ctx context.Context, mirror Handle) error {
	if k.WithoutWarming {
		return nil
	}
	return Warm(ctx, mirror, k.Prefix)
}

// Warm downloads every object under a plain string prefix that isn't local,
// and returns when all are, or with the first error. An object that is deleted
// meanwhile is no error.
func Warm(ctx context.Context, mirror Handle, prefix string) error {
	var batch []objectstore.Path
	flush := func() error {
		fetches := make([]*Fetch, len(batch))
		for i, path := range batch {
			fetches[i] = mirror.Fetch(path)
		}
		var first error
		for _, fetch := range fetches {
			if first != nil {
				fetch.Cancel()
				continue
			}
			if err := fetch.Wait(ctx); !isGone(err) {
				first = err
			}
		}
		batch = batch[:0]
		return first
	}
	for object, err := range mirror.Remote().List(ctx, &objectstore.ListOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		if mirror.Contains(object.Path) {
			continue
		}
		if batch = append(batch, object.Path); len(batch) == warmBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

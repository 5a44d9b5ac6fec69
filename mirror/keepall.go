package mirror

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/objectstore"
)

// warmBatch is how many paths KeepAll asks for at a time.
const warmBatch = 256

// KeepAll is a Policy that keeps every object under a prefix. In the background
// it downloads those that the remote already has, and skips those that it can't
// get; until then, reads download what they need. The zero value keeps the
// whole remote.
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

// Warm downloads every object under a plain string prefix that isn't local, and
// returns when all are. It skips objects that can't be downloaded and returns a
// [WarmError] about them in the end. A failure of the local disk, an ended ctx
// and a list that fails end it at once. An object that is deleted meanwhile is
// no error.
func Warm(ctx context.Context, mirror Handle, prefix string) error {
	w := warming{ctx: ctx, mirror: mirror}
	for object, err := range mirror.m.list(ctx, objectstore.ListOptions{Prefix: prefix}) {
		if err != nil {
			return w.end(err)
		}
		if mirror.Contains(object.Path) {
			continue
		}
		if w.batch = append(w.batch, object.Path); len(w.batch) == warmBatch {
			if err := w.flush(); err != nil {
				return w.end(err)
			}
		}
	}
	return w.end(w.flush())
}

// warming is the state of one Warm.
type warming struct {
	ctx    context.Context //nolint:containedctx // no longer than Warm
	mirror Handle
	batch  []objectstore.Path
	failed WarmError
}

// flush downloads the batch. Its error ends the warming.
func (w *warming) flush() (fatal error) {
	fetches := make([]*Fetch, len(w.batch))
	for i, path := range w.batch {
		fetches[i] = w.mirror.Fetch(path)
	}
	w.batch = w.batch[:0]
	for _, fetch := range fetches {
		if fatal != nil {
			fetch.Cancel()
			continue
		}
		switch err := fetch.Wait(w.ctx); {
		case isGone(err), isNotLocal(err): // the policy may not want it
		case w.ctx.Err() != nil, isLocalFailure(err), errors.Is(err, objectstore.ErrClosed):
			fatal = err
		default:
			w.failed.add(err)
		}
	}
	return fatal
}

// end joins what ended the warming, which may be nil, with what failed before.
func (w *warming) end(err error) error {
	if w.failed.Failed == 0 {
		return err
	}
	return errors.Join(err, &w.failed)
}

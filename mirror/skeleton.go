package mirror

import (
	"context"
	"errors"
	"iter"

	"github.com/stardustdb/stardust/objectstore"
)

// Placeholder of the API, replaced file by file.

type Mirror struct {
	name   string
	remote objectstore.Store
}

type Fetch struct{}

func (f *Fetch) Wait(ctx context.Context) error { return ctx.Err() }
func (f *Fetch) Cancel()                        {}

func (m *Mirror) fetch(paths []objectstore.Path) *Fetch { return &Fetch{} }
func (m *Mirror) prefetch(paths []objectstore.Path)     {}
func (m *Mirror) evict(paths []objectstore.Path)        {}
func (m *Mirror) contains(path objectstore.Path) bool   { return false }
func (m *Mirror) entries() iter.Seq[objectstore.ObjectMeta] {
	return func(func(objectstore.ObjectMeta) bool) {}
}

func (m *Mirror) getRemote(ctx context.Context, path objectstore.Path) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
func (m *Mirror) stats() Stats                                { return Stats{} }
func (b *Builder) build(ctx context.Context) (*Mirror, error) { return nil, errors.ErrUnsupported }

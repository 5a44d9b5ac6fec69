package slatetest

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// Collect is one turn of the garbage collector: it drops expired checkpoints
// from the manifest, and deletes the manifests, compactions objects and SSTs
// that are old enough and that nothing needs.
func (p *Process) Collect(ctx context.Context) error {
	if err := errors.Join(p.PollCompactions(ctx), p.Poll(ctx)); err != nil {
		return err
	}
	active := p.manifest.ActiveCheckpoints(time.Now())
	if len(active) < len(p.manifest.Checkpoints) {
		err := p.update(ctx, func(m *slatedb.Manifest) { m.Checkpoints = m.ActiveCheckpoints(time.Now()) })
		if err != nil {
			return err
		}
	}
	manifests, ssts, err := p.needed(ctx)
	if err != nil {
		return err
	}
	return errors.Join(
		p.sweep(ctx, slatedb.ListManifests(ctx, p.store, p.options.Root), func(id uint64) bool { return manifests[id] || id >= p.manifest.ID }),
		p.sweep(ctx, slatedb.ListCompactions(ctx, p.store, p.options.Root), func(id uint64) bool { return id >= p.compactions.ID }),
		p.sweepSSTs(ctx, ssts))
}

// needed returns the manifests of checkpoints, and the SSTs of these, of the
// latest manifest and of active compactions.
func (p *Process) needed(ctx context.Context) (map[uint64]bool, map[ulid.ULID]bool, error) {
	manifests, ssts := map[uint64]bool{}, map[ulid.ULID]bool{}
	for _, id := range p.compactions.ActiveOutputs() {
		ssts[id] = true
	}
	for _, id := range p.manifest.SSTs() {
		ssts[id] = true
	}
	for _, c := range p.manifest.Checkpoints {
		if manifests[c.ManifestID] {
			continue
		}
		manifests[c.ManifestID] = true
		m, err := slatedb.ReadManifest(ctx, p.store, p.options.Root, c.ManifestID)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range m.SSTs() {
			ssts[id] = true
		}
	}
	return manifests, ssts, nil
}

func (p *Process) old(meta objectstore.ObjectMeta) bool {
	return time.Since(meta.LastModified) >= p.options.MinAge
}

func (p *Process) sweep(ctx context.Context, list iter.Seq2[slatedb.Stored, error], needed func(id uint64) bool) error {
	for stored, err := range list {
		if err != nil {
			return err
		}
		if !needed(stored.ID) && p.old(stored.Meta) {
			if err := p.delete(ctx, stored.Meta.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Process) sweepSSTs(ctx context.Context, needed map[ulid.ULID]bool) error {
	prefix := slatedb.SSTPath(p.options.Root, ulid.ULID{}).Parent() + "/"
	for meta, err := range p.store.List(ctx, &objectstore.ListOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		name, ok := slatedb.ParseName(meta.Path)
		if ok && !needed[name.SST] && p.old(meta) {
			if err := p.delete(ctx, meta.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// delete deletes what another collector may have deleted already.
func (p *Process) delete(ctx context.Context, path objectstore.Path) error {
	err := p.store.Delete(ctx, path)
	if errors.Is(err, objectstore.ErrNotFound) {
		return nil
	}
	return err
}

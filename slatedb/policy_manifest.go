package slatedb

import (
	"context"
	"errors"
	"log/slog"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// checkpointReads is how many checkpoint manifests are read at a time.
const checkpointReads = 8

// observeManifest processes a manifest that a caller is about to get or has just
// written. The numbers are the steps of RFC 0034, Manifest Processing.
func (p *Policy) observeManifest(ctx context.Context, name Name, data []byte, handle mirror.Handle) error {
	// 1. Decode.
	m, err := decodeManifestAt(name.Path(), name.Number, data)
	if err != nil {
		return err
	}
	own := newFootprint(m, name.Root, &p.state.owners)

	// 2. Is it newer than the newest processed, and which of its checkpoints are
	//    known already? Whether checkpoints are active is decided once, so that
	//    all steps agree.
	wanted := activeManifests(m, p.options.Clock)
	newer, checkpoints := p.state.beginManifest(m.ID, wanted)
	if !newer {
		return p.warmOlder(ctx, handle, m, own, p.state.retained())
	}

	// 3. Read the other checkpoint manifests and apply the predicate, which is the
	//    user's code, both without the lock.
	if err := p.readCheckpoints(ctx, name.Root, m, own, wanted, checkpoints, handle); err != nil {
		return err
	}
	selects := p.selector(m)
	download := own.selected(selects)
	retained := retainedSet{download}
	for _, id := range wanted {
		if f := checkpoints[id]; f != nil && f != own {
			retained = append(retained, f.selected(selects))
		}
	}

	// 4 to 7. Advance, unless another manifest overtook this one.
	advanced, current := p.state.advance(m, retained, checkpoints, func(gone sstSet) {
		paths := p.state.owners.paths(gone)
		handle.Evict(paths...)
		for _, path := range paths {
			p.lost.remove(path)
		}
	})
	if !advanced {
		return p.warmOlder(ctx, handle, m, own, current)
	}
	p.options.Logger.Debug("new manifest", slog.Uint64("manifest", m.ID),
		slog.Int("ssts", len(download)), slog.Int("checkpoints", len(checkpoints)))

	// 8. Have its SSTs local before the caller gets it.
	return p.fetch(ctx, handle, download)
}

// warmOlder is step 6: a manifest that is not newer changes nothing and
// downloads those of its SSTs that are retained. The predicate does not run,
// since only selected SSTs are retained.
func (p *Policy) warmOlder(ctx context.Context, handle mirror.Handle, m *Manifest, own *footprint, retained retainedSet) error {
	all := own.all()
	download := all.minus(retained.without(all))
	p.options.Logger.Debug("manifest seen before or out of order",
		slog.Uint64("manifest", m.ID), slog.Int("ssts", len(download)))
	return p.fetch(ctx, handle, download)
}

// activeManifests returns the manifests of the active checkpoints of m, each
// once.
func activeManifests(m *Manifest, clock mirror.Clock) []uint64 {
	var ids []uint64
	seen := make(map[uint64]bool)
	for _, c := range m.ActiveCheckpoints(clock.Now()) {
		if !seen[c.ManifestID] {
			seen[c.ManifestID] = true
			ids = append(ids, c.ManifestID)
		}
	}
	return ids
}

// readCheckpoints adds the wanted footprints that are missing from cached. A
// checkpoint of m itself needs no read. A manifest that does not exist is left
// out: m may be so old that its checkpoint, and what that kept, are gone. It
// returns the first other error.
func (p *Policy) readCheckpoints(ctx context.Context, root objectstore.Path, m *Manifest, own *footprint, wanted []uint64, cached map[uint64]*footprint, handle mirror.Handle) error {
	var missing []uint64
	for _, id := range wanted {
		switch {
		case id == m.ID:
			cached[id] = own
		case cached[id] == nil:
			missing = append(missing, id)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(checkpointReads)
	read := make([]*footprint, len(missing))
	for i, id := range missing {
		group.Go(func() error {
			var err error
			read[i], err = p.readCheckpoint(ctx, root, id, handle)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	maps.DeleteFunc(cached, func(_ uint64, f *footprint) bool { return f == nil })
	for i, id := range missing {
		if read[i] != nil {
			cached[id] = read[i]
		}
	}
	return nil
}

// readCheckpoint reads a checkpoint's manifest. It returns nil when there is
// none.
func (p *Policy) readCheckpoint(ctx context.Context, root objectstore.Path, id uint64, handle mirror.Handle) (*footprint, error) {
	path := ManifestPath(root, id)
	data, err := handle.GetRemote(ctx, path)
	if errors.Is(err, objectstore.ErrNotFound) {
		p.options.Logger.Warn("the manifest of an active checkpoint does not exist; its SSTs are not retained",
			slog.String("path", string(path)))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := decodeManifestAt(path, id, data)
	if err != nil {
		return nil, err
	}
	return newFootprint(m, root, &p.state.owners), nil
}

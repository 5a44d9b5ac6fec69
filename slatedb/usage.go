package slatedb

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// Amount is a number of objects and the sum of their sizes.
type Amount struct {
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

func (a *Amount) add(size int64) {
	a.Objects++
	a.Bytes += size
}

// UsageReport says what the compacted SSTs of a database take up in the store.
// Every SST under the database's root counts in exactly one of Live, Retained,
// InFlight and Garbage.
type UsageReport struct {
	ManifestID uint64 `json:"manifest_id"`
	// Live SSTs are in the latest manifest.
	Live Amount `json:"live"`
	// Retained SSTs are in the manifests of active checkpoints only.
	Retained Amount `json:"retained"`
	// InFlight SSTs are output of compactions that have not finished.
	InFlight Amount `json:"in_flight"`
	// Garbage is all others: what a collector may delete once old enough.
	Garbage Amount `json:"garbage"`
	// External SSTs belong to other databases; the latest manifest or an
	// active checkpoint uses them in place.
	External Amount `json:"external"`
	// Missing are SSTs that the latest manifest or an active checkpoint needs
	// and the store does not have.
	Missing []objectstore.Path `json:"missing"`
}

// Usage reports on the database at root at the given time, which decides what
// checkpoints are active. Sizes come from listings: it reads the latest
// manifest, those of the active checkpoints and the latest compactions, and no
// SST. A database in use may change meanwhile, so what was written since the
// manifest was read can count as garbage.
//
// It returns ErrNoDatabase when there is no manifest.
func Usage(ctx context.Context, store objectstore.Store, root objectstore.Path, now time.Time) (*UsageReport, error) {
	// In this order, so that an output that becomes live meanwhile counts as
	// live rather than as garbage.
	compactions, err := LatestCompactions(ctx, store, root)
	if err != nil {
		return nil, err
	}
	m, err := LatestManifest(ctx, store, root)
	if err != nil {
		return nil, err
	}
	u := usage{report: &UsageReport{ManifestID: m.ID, Missing: []objectstore.Path{}}, needed: map[objectstore.Path]*Amount{}}
	u.need(m, root, &u.report.Live)
	for _, c := range m.ActiveCheckpoints(now) {
		retained, err := ReadManifest(ctx, store, root, c.ManifestID)
		switch {
		case errors.Is(err, objectstore.ErrNotFound):
			continue // collected together with its checkpoint, a moment ago
		case err != nil:
			return nil, err
		}
		u.need(retained, root, &u.report.Retained)
	}
	if compactions != nil {
		for _, id := range compactions.ActiveOutputs() {
			u.inFlight = append(u.inFlight, id)
		}
	}
	return u.report, u.list(ctx, store, root)
}

// usage is a report in the making.
type usage struct {
	report *UsageReport
	// needed has the path of every SST that is needed, until it was found, and
	// where it counts.
	needed   map[objectstore.Path]*Amount
	external []objectstore.Path // the roots of other databases
	inFlight []ulid.ULID
}

// need counts the SSTs of a manifest in the given class, unless they are
// counted already.
func (u *usage) need(m *Manifest, root objectstore.Path, class *Amount) {
	resolver := m.Resolver(root)
	for view := range m.AllSSTViews() {
		owner := resolver.Root(view.SST.ID)
		path := SSTPath(owner, view.SST.ID)
		if u.needed[path] != nil {
			continue
		}
		if owner == root {
			u.needed[path] = class
			continue
		}
		u.needed[path] = &u.report.External
		u.addExternal(owner)
	}
}

func (u *usage) addExternal(root objectstore.Path) {
	if !slices.Contains(u.external, root) {
		u.external = append(u.external, root)
	}
}

// list finds the sizes.
func (u *usage) list(ctx context.Context, store objectstore.Store, root objectstore.Path) error {
	inFlight := make(map[objectstore.Path]bool, len(u.inFlight))
	for _, id := range u.inFlight {
		inFlight[SSTPath(root, id)] = true
	}
	for _, owner := range append([]objectstore.Path{root}, u.external...) {
		prefix := string(inRoot(owner, KindCompacted.folder()+"/"))
		for meta, err := range store.List(ctx, &objectstore.ListOptions{Prefix: prefix}) {
			if err != nil {
				return err
			}
			class := u.needed[meta.Path]
			delete(u.needed, meta.Path)
			switch {
			case class != nil:
				class.add(meta.Size)
			case owner != root:
				// These belong to another database.
			case inFlight[meta.Path]:
				u.report.InFlight.add(meta.Size)
			default:
				u.report.Garbage.add(meta.Size)
			}
		}
	}
	for path := range u.needed {
		u.report.Missing = append(u.report.Missing, path)
	}
	slices.Sort(u.report.Missing)
	return nil
}

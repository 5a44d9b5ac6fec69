package slatedb

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// Policy mirrors the compacted SSTs of one SlateDB database: it is the
// mirror.Policy of RFC 0034, SlateDB Policy. Make one with [NewPolicy],
// one for each mirror.
//
// It routes calls by the [CallTag] in their options and watches the manifests
// that pass through the mirror. Every SST of a manifest is local before a
// caller gets the manifest, so the SST reads that follow are local. What the
// newest manifest and its active checkpoints no longer reference is evicted.
//
// The root of the database is recorded from the first .manifest or .compactions
// object that is read or written, unless the options have one. Such
// objects of another root are refused with [ErrOtherRoot] from then on. A read
// records the root once it has found an object, a write when it begins.
//
// The local disk must have room for the whole database, for its active
// checkpoints and for the outputs of running compactions (RFC 0034, Capacity).
type Policy struct {
	options PolicyOptions
	state   policyState
	lost    lostSSTs
}

var _ mirror.Policy = (*Policy)(nil)

// PolicyStatus says what a policy has seen.
type PolicyStatus struct {
	// Root is the database's root; RootKnown tells whether it is known, for
	// an empty root is a root too.
	Root      objectstore.Path
	RootKnown bool
	// ManifestID is the newest manifest processed, zero when there was none.
	ManifestID uint64
	// Checkpoints is the number of distinct manifests that the newest manifest's
	// active checkpoints keep.
	Checkpoints int
	// Retained is the number of SSTs that must not be evicted. Not all of
	// them need be local.
	Retained int
}

// Status returns what the policy has seen. It takes time proportional to the
// number of retained SSTs.
func (p *Policy) Status() PolicyStatus {
	v := p.state.view()
	status := PolicyStatus{Root: v.root, RootKnown: v.rootKnown, Retained: v.retained.size()}
	if v.newest != nil {
		status.ManifestID = v.newest.ID
	}
	status.Checkpoints = p.state.checkpointCount()
	return status
}

// Observe implements mirror.Policy (RFC 0034, Manifest Processing). It returns
// an error for an object of another root, for a manifest that cannot be
// decoded, when a checkpoint's manifest cannot be read, and when a download
// fails.
func (p *Policy) Observe(ctx context.Context, path objectstore.Path, data []byte, handle mirror.Handle) error {
	if !isMetadata(path) {
		return nil
	}
	if err := p.state.recordRoot(path); err != nil {
		return err
	}
	name, ok := metadataName(path)
	if !ok {
		return nil // not a name that SlateDB gives: it says nothing about the database
	}
	if name.Kind == KindCompactions {
		return p.observeCompactions(ctx, name, data, handle)
	}
	return p.observeManifest(ctx, name, data, handle)
}

// fetch downloads the SSTs of a set that are not local.
func (p *Policy) fetch(ctx context.Context, handle mirror.Handle, set sstSet) error {
	if len(set) == 0 {
		return nil
	}
	paths := p.state.owners.paths(set)
	if p.options.TolerateLostSSTs {
		return p.lost.fetch(ctx, handle, paths, p.options.Logger)
	}
	return handle.Fetch(paths...).Wait(ctx)
}

// selector returns the segment predicate as it applies to the manifest.
func (p *Policy) selector(m *Manifest) func(segment []byte) bool {
	if p.options.SegmentPredicate == nil {
		return func([]byte) bool { return true }
	}
	return func(segment []byte) bool { return m != nil && p.options.SegmentPredicate(m, segment) }
}

// String describes the policy for logs.
func (p *Policy) String() string {
	v := p.state.view()
	if !v.rootKnown {
		return "slatedb policy"
	}
	return fmt.Sprintf("slatedb policy of %q", string(v.root))
}

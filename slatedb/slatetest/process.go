package slatetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// Options describe a simulated database. All its processes need the same.
type Options struct {
	Root objectstore.Path
	// FormatVersion is the version of the manifests, 1 or 2. With 1 there can
	// be no segments but the root.
	FormatVersion uint16
	// Segments are the prefixes that writers write to; "" is the root.
	Segments []string
	// Untagged leaves the tags out of calls, as a SlateDB behind an endpoint
	// does.
	Untagged bool
	// CheckpointLifetime is how long the checkpoint that a compaction leaves
	// protects readers of the state before it.
	CheckpointLifetime time.Duration
	// MinAge is the age below which a collector deletes nothing.
	MinAge time.Duration
	// HeartbeatTimeout is when a worker that says nothing counts as dead.
	HeartbeatTimeout time.Duration
}

// Process is a process of a simulated SlateDB: a writer, a reader, a compactor
// or a collector on one machine, with that machine's store. It makes the calls
// that a SlateDB would make, but keeps no data: SSTs hold bytes that follow from
// their ID, so that every read can be checked. A Process is not safe for
// concurrent use; a database has many, in one bubble of testing/synctest or not.
type Process struct {
	name    string
	store   objectstore.Store
	options Options
	random  *rand.Rand

	manifest    *slatedb.Manifest
	compactions *slatedb.Compactions
}

// Open opens the database on a machine, and creates it when it is not there.
func Open(ctx context.Context, name string, store objectstore.Store, options Options, random *rand.Rand) (*Process, error) {
	p := &Process{name: name, store: store, options: options, random: random}
	err := p.Poll(ctx)
	if errors.Is(err, slatedb.ErrNoDatabase) {
		p.manifest = &slatedb.Manifest{FormatVersion: options.FormatVersion, Initialized: true}
		err = p.update(ctx, func(*slatedb.Manifest) {})
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	return p, nil
}

// Manifest returns the state that the process works on.
func (p *Process) Manifest() *slatedb.Manifest { return p.manifest }

// Poll reads the latest manifest.
func (p *Process) Poll(ctx context.Context) error {
	m, err := slatedb.LatestManifest(ctx, p.store, p.options.Root)
	if err != nil {
		return err
	}
	if p.manifest == nil || m.ID > p.manifest.ID {
		p.manifest = m
	}
	return nil
}

// update writes the next manifest. When another process was faster it starts
// over from that one's.
func (p *Process) update(ctx context.Context, change func(m *slatedb.Manifest)) error {
	for {
		next := cloneManifest(p.manifest)
		next.ID++
		change(next)
		path := slatedb.ManifestPath(p.options.Root, next.ID)
		err := p.create(ctx, path, EncodeManifest(next), objectstore.Extensions{})
		if err == nil {
			p.manifest = next
			return nil
		}
		if !errors.Is(err, objectstore.ErrAlreadyExists) {
			return err
		}
		if err := p.Poll(ctx); err != nil {
			return err
		}
	}
}

func (p *Process) create(ctx context.Context, path objectstore.Path, data []byte, extensions objectstore.Extensions) error {
	_, err := p.store.Put(ctx, path, objectstore.Bytes(data), &objectstore.PutOptions{Mode: objectstore.Create, Extensions: extensions})
	return err
}

// Flush writes an SST to L0 of a random segment and then the manifest.
func (p *Process) Flush(ctx context.Context) error {
	segment := p.options.Segments[p.random.IntN(len(p.options.Segments))]
	sst, err := p.WriteSST(ctx, slatedb.MainStore, segment)
	if err != nil {
		return err
	}
	return p.update(ctx, func(m *slatedb.Manifest) {
		tree := treeOf(m, segment)
		tree.L0 = slices.Insert(tree.L0, 0, p.view(sst))
	})
}

// WriteSST writes an SST that nothing refers to yet, in parts or whole.
func (p *Process) WriteSST(ctx context.Context, kind slatedb.StoreKind, segment string) (*slatedb.SST, error) {
	sst := &slatedb.SST{ID: p.newID(), FormatVersion: 2}
	path, data := slatedb.SSTPath(p.options.Root, sst.ID), SSTBytes(sst.ID)
	extensions := p.tag(kind, segment, slatedb.NoRetry)
	if p.random.IntN(3) > 0 {
		return sst, p.create(ctx, path, data, extensions)
	}
	upload, err := p.store.PutMultipart(ctx, path, &objectstore.MultipartOptions{Extensions: extensions})
	if err != nil {
		return nil, err
	}
	half := len(data) / 2
	for number, part := range [][]byte{data[:half], data[half:]} {
		if err := upload.PutPart(ctx, number+1, objectstore.Bytes(part)); err != nil {
			return nil, errors.Join(err, upload.Abort(context.WithoutCancel(ctx)))
		}
	}
	_, err = upload.Complete(ctx)
	return sst, err
}

// Checkpoint leaves a checkpoint on the manifest that it writes.
func (p *Process) Checkpoint(ctx context.Context, lifetime time.Duration) error {
	id := [16]byte(p.newID())
	return p.update(ctx, func(m *slatedb.Manifest) {
		now := time.Now()
		m.Checkpoints = append(m.Checkpoints, slatedb.Checkpoint{
			ID: id, ManifestID: m.ID, CreateTime: now, ExpireTime: now.Add(lifetime).Truncate(time.Second),
		})
	})
}

// tag returns the extensions of a call for an SST.
func (p *Process) tag(kind slatedb.StoreKind, segment string, retry slatedb.RetryReason) objectstore.Extensions {
	if p.options.Untagged {
		return objectstore.Extensions{}
	}
	tag := slatedb.CallTag{Kind: kind, SSTType: slatedb.TypeCompacted, Retry: retry}
	return tag.WithSegment([]byte(segment)).Extend(objectstore.Extensions{})
}

// view shows an SST whole. Version 1 has no IDs of views.
func (p *Process) view(sst *slatedb.SST) slatedb.SSTView {
	id := sst.ID
	if p.options.FormatVersion > 1 {
		id = p.newID()
	}
	return slatedb.SSTView{ID: id, SST: sst}
}

func (p *Process) newID() ulid.ULID {
	var id ulid.ULID
	for i := range id {
		id[i] = byte(p.random.Uint32())
	}
	if err := id.SetTime(ulid.Timestamp(time.Now())); err != nil {
		panic(err) // the clock is beyond the year 10889
	}
	return id
}

// SSTBytes returns the bytes of the SST with an ID: 64 to 319 of them.
func SSTBytes(id ulid.ULID) []byte {
	random := rand.New(rand.NewPCG(id.Time(), uint64(id[15])<<8|uint64(id[14])))
	data := make([]byte, 64+random.IntN(256))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	copy(data, id[:])
	return data
}

// treeOf returns the tree of a segment, a new one if need be.
func treeOf(m *slatedb.Manifest, segment string) *slatedb.Tree {
	if segment == "" {
		return &m.Root
	}
	i, found := slices.BinarySearchFunc(m.Segments, segment, func(s slatedb.Segment, prefix string) int {
		switch {
		case string(s.Prefix) < prefix:
			return -1
		case string(s.Prefix) > prefix:
			return 1
		}
		return 0
	})
	if !found {
		m.Segments = slices.Insert(m.Segments, i, slatedb.Segment{Prefix: []byte(segment)})
	}
	return &m.Segments[i].Tree
}

// cloneManifest copies everything that a process changes.
func cloneManifest(m *slatedb.Manifest) *slatedb.Manifest {
	c := *m
	c.Checkpoints = slices.Clone(m.Checkpoints)
	c.Root = cloneTree(m.Root)
	c.Segments = slices.Clone(m.Segments)
	for i := range c.Segments {
		c.Segments[i].Tree = cloneTree(c.Segments[i].Tree)
	}
	return &c
}

func cloneTree(t slatedb.Tree) slatedb.Tree {
	t.L0, t.SortedRuns = slices.Clone(t.L0), slices.Clone(t.SortedRuns)
	return t
}

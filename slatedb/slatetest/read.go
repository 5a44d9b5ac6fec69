package slatetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// Scan reads every SST of the state that the process works on, as a scan of the
// database would, and checks the bytes. It returns an error that names the first
// SST which could not be read or is wrong.
func (p *Process) Scan(ctx context.Context) error {
	return p.scan(ctx, slatedb.MainStore, p.manifest)
}

// ScanCheckpoint opens a random checkpoint that holds for the given time yet,
// as a reader does: the latest manifest first, then the checkpoint's. It then
// reads every SST of it. It does nothing when there is no such checkpoint.
func (p *Process) ScanCheckpoint(ctx context.Context, left time.Duration) error {
	if err := p.Poll(ctx); err != nil {
		return err
	}
	active := p.manifest.ActiveCheckpoints(time.Now().Add(left))
	if len(active) == 0 {
		return nil
	}
	id := active[p.random.IntN(len(active))].ManifestID
	m, err := slatedb.ReadManifest(ctx, p.store, p.options.Root, id)
	if err != nil {
		return fmt.Errorf("%s opens a checkpoint on manifest %d: %w", p.name, id, err)
	}
	return p.scan(ctx, slatedb.ReaderStore, m)
}

func (p *Process) scan(ctx context.Context, kind slatedb.StoreKind, m *slatedb.Manifest) error {
	for segment, tree := range m.Trees() {
		for view := range tree.SSTViews() {
			if err := p.readSST(ctx, kind, string(segment), view.SST.ID); err != nil {
				return fmt.Errorf("%s scans manifest %d: %w", p.name, m.ID, err)
			}
		}
	}
	return nil
}

// readSST reads an SST whole, or a range of it, and checks the bytes. Sometimes
// it asks for them again, as if they had been damaged.
func (p *Process) readSST(ctx context.Context, kind slatedb.StoreKind, segment string, id ulid.ULID) error {
	want := SSTBytes(id)
	options := &objectstore.GetOptions{}
	switch p.random.IntN(3) {
	case 0:
		start := int64(p.random.IntN(len(want)))
		options.Range, want = objectstore.Bounded(start, int64(len(want))), want[start:]
	case 1:
		n := 1 + p.random.IntN(len(want))
		options.Range, want = objectstore.Suffix(int64(n)), want[len(want)-n:]
	}
	retry := slatedb.NoRetry
	if p.random.IntN(50) == 0 && !p.options.Untagged {
		retry = slatedb.ChecksumMismatch
	}
	options.Extensions = p.tag(kind, segment, retry)
	result, err := p.store.Get(ctx, slatedb.SSTPath(p.options.Root, id), options)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(result.Body)
	if err := errors.Join(err, result.Body.Close()); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("SST %v: wrong bytes", id)
	}
	return nil
}

// L0 returns the SSTs of the L0 of a segment.
func L0(m *slatedb.Manifest, segment string) []ulid.ULID {
	var ids []ulid.ULID
	for _, view := range treeOf(cloneManifest(m), segment).L0 {
		ids = append(ids, view.SST.ID)
	}
	return ids
}

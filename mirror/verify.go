package mirror

import (
	"context"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// Verify reads every local copy, in the order of their paths, and compares it
// with its block checksums. It yields each path with nil or what is wrong: a
// [Local], or a [NotLocal] if the copy went away meanwhile. It repairs nothing:
// evict and fetch the damaged paths, or read them with verification.
func (m *Mirror) Verify(ctx context.Context) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		all := m.local.Index.All()
		slices.SortFunc(all, func(a, b local.Indexed) int { return strings.Compare(string(a.Path), string(b.Path)) })
		for _, x := range all {
			err := ctx.Err()
			if err == nil {
				err = m.verify(ctx, x.Path)
			}
			if err != nil {
				err = m.fail("verify", x.Path, err)
			}
			if !yield(x.Path, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// verify checks one local copy.
func (m *Mirror) verify(ctx context.Context, path objectstore.Path) error {
	h, err := m.local.Open(ctx, path, m.local.Index.Get(path))
	switch {
	case err != nil:
		return err
	case h == nil:
		return &NotLocal{path}
	}
	defer func() { _ = m.local.Files.Release(h) }()
	blocks := m.local.Blocks(ctx, path, h.Entry)
	if int64(len(blocks)) != local.BlockCount(h.Entry.Size) {
		return local.Fail("verify the local copy", path, local.ErrNoChecksum)
	}
	buffer := m.local.Files.Buffer()
	defer m.local.Files.Buffers.Put(buffer)
	for i, want := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		off := int64(i) * local.BlockSize
		data := (*buffer)[:min(local.BlockSize, h.Entry.Size-off)]
		if n, err := h.File.ReadAt(data, off); n < len(data) {
			return local.Fail("verify the local copy", path, fmt.Errorf("block %d has %d of %d bytes: %w", i, n, len(data), err))
		}
		if crc := crc32.Checksum(data, local.Castagnoli()); crc != want {
			return local.Fail("verify the local copy", path, fmt.Errorf("block %d has CRC32C %08x, not %08x", i, crc, want))
		}
	}
	return nil
}

package mirror

import (
	"context"
	"fmt"
	"hash/crc32"
	"iter"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// Verify reads every local copy, in the order of their paths, and compares it
// with its block checksums. It yields each path with nil or what is wrong: a
// [Local], or a [NotLocal] when the copy went away meanwhile. It mends nothing:
// have the damaged paths evicted and fetched, or read them with verification.
func (m *Mirror) Verify(ctx context.Context) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		all := m.local.index.all()
		slices.SortFunc(all, func(a, b indexed) int { return strings.Compare(string(a.path), string(b.path)) })
		for _, x := range all {
			err := ctx.Err()
			if err == nil {
				err = m.verify(ctx, x.path)
			}
			if err != nil {
				err = m.fail("verify", x.path, err)
			}
			if !yield(x.path, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// verify checks one local copy.
func (m *Mirror) verify(ctx context.Context, path objectstore.Path) error {
	h, err := m.local.open(ctx, path, m.local.index.get(path))
	switch {
	case err != nil:
		return err
	case h == nil:
		return &NotLocal{path}
	}
	defer func() { _ = m.local.files.release(h) }()
	blocks := m.local.blocks(ctx, path, h.entry)
	if int64(len(blocks)) != blockCount(h.entry.size) {
		return local("verify the local copy", path, errNoChecksum)
	}
	buffer := m.blockBuffer()
	defer m.blockBuffers.Put(buffer)
	for i, want := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		off := int64(i) * blockSize
		data := (*buffer)[:min(blockSize, h.entry.size-off)]
		if n, err := h.file.ReadAt(data, off); n < len(data) {
			return local("verify the local copy", path, fmt.Errorf("block %d has %d of %d bytes: %w", i, n, len(data), err))
		}
		if crc := crc32.Checksum(data, castagnoli()); crc != want {
			return local("verify the local copy", path, fmt.Errorf("block %d has CRC32C %08x, not %08x", i, crc, want))
		}
	}
	return nil
}

package stardust

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/payload"
)

// After a crash the records of the newest chunks are looked at before the file
// is changed: in a copy that was made while somebody wrote, they may be missing.
const (
	proofChunks = 20_000
	proofBytes  = 256 << 20
)

// proof looks for what can be wrong with a file that was not closed: missing
// chunks of its last commits, and, where the log is missing, tables of
// different times.
func (f *file) proof(ctx context.Context, v *catalog.View) error {
	if lacking := f.container.Accepted(); lacking != nil {
		var first error
		_, err := v.Check(ctx, func(problem error) {
			if first == nil {
				first = problem
			}
		})
		if err = errors.Join(first, err); err != nil {
			return fmt.Errorf("its tables are of different times (%w); salvage what is left: %w", lacking, err)
		}
		return nil
	}
	if !f.container.Recovered() {
		return nil
	}
	chunks, bytes := 0, int64(0)
	var missing error
	err := v.NewestChunks(func(c *catalog.Chunk) bool {
		chunks++
		bytes += min(c.Size, heap.BlockSize)
		err := f.heap.Probe(payload.Place(c), c.Digest)
		if err != nil && payload.IsDamage(err) {
			missing = fmt.Errorf("%w: chunk %v of its last commits is not there: %w", container.ErrTornCopy, c.Digest, err)
			return false
		}
		return chunks < proofChunks && bytes < proofBytes
	})
	return errors.Join(err, missing)
}

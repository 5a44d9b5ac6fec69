package stardust

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/payload"
)

// backupBatch is how many chunks of a backup become durable together.
const backupBatch = 256

// BackupOptions are the options of [DB.Backup]. A nil pointer means the zero
// value.
type BackupOptions struct {
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(BackupProgress)
}

// BackupProgress tells how far a backup has come.
type BackupProgress struct {
	Chunks, TotalChunks int64
	Bytes, TotalBytes   int64
}

// Backup copies the database, as it is when the call begins, to a new file
// while others read and write. The copy has the same payloads, tree, revisions
// and history, an identity of its own, and no free space. It is written beside
// the path, under the name with ".partial" added, and renamed when it is whole.
// Every chunk is verified on the way.
//
// It returns StatusConflict when the path exists, StatusEvaluationFailed when a
// chunk is damaged, StatusIO when the disk fails or is full, and StatusCanceled
// when ctx ends first; no new file is left then. StatusConflict with CodeInUse
// says that another backup is writing to the same path.
func (db *DB) Backup(ctx context.Context, path string, options *BackupOptions) error {
	const op = "backup"
	inner, end, err := db.task(ctx)
	if err != nil {
		return withOp(op, err)
	}
	b := backup{db: db}
	if options != nil {
		b.options = *options
	}
	return withOp(op, end(b.run(inner, path)))
}

// backup is one backup under way.
type backup struct {
	db      *DB
	options BackupOptions

	mu       sync.Mutex
	progress BackupProgress
}

func (b *backup) run(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = conflict("", "%s exists already; a backup makes a new file", path)
		}
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	partial := path + ".partial"
	if err := container.RemoveDraft(partial); err != nil {
		return partialError(partial, err)
	}
	target, err := openDraft(partial, b.db.options.Logger)
	if err != nil {
		return openError(partial, err)
	}
	if err = b.write(ctx, target); err == nil {
		err = renameDurably(partial, path)
	}
	if err != nil {
		err = errors.Join(err, container.RemoveDraft(partial))
	}
	return err
}

// partialError says why the file that lies where the copy would be written
// stays there.
func partialError(partial string, err error) error {
	if errors.Is(err, container.ErrNotDraft) {
		return &Error{
			Status:  StatusConflict,
			Message: partial + " is where the copy would be written, and no interrupted backup left it; move it away", Err: err,
		}
	}
	return openError(partial, err)
}

// write fills the new file and closes it.
func (b *backup) write(ctx context.Context, target *file) (err error) {
	defer func() {
		if closed := target.close(); err == nil {
			err = closed
		}
	}()
	err = b.db.catalog.Read(ctx, catalog.Live, func(v *catalog.View) error {
		totals, err := v.ChunkTotals()
		if err != nil {
			return err
		}
		b.progress.TotalChunks, b.progress.TotalBytes = totals.Chunks, totals.Bytes
		return v.CopyTo(target.dsn())
	})
	if err != nil {
		return asError(err)
	}
	copied, err := catalog.Open(target.dsn(), catalog.Options{Pragmas: target.pragmas()})
	if err != nil {
		return asError(err)
	}
	err = errors.Join(b.copyChunks(ctx, copied, target), copied.Close())
	if err == nil {
		err = target.container.Finish()
	}
	return asError(err)
}

// copyChunks copies the chunks that the copied rows name, in batches, and
// points the rows at the copies.
func (b *backup) copyChunks(ctx context.Context, to *catalog.Catalog, target *file) error {
	for after := int64(0); ; {
		var batch []catalog.Chunk
		err := to.ReadOne(ctx, catalog.Live, func(v *catalog.View) error {
			return v.Chunks(after, func(c *catalog.Chunk) bool {
				batch = append(batch, *c)
				return len(batch) < backupBatch
			})
		})
		if err != nil || len(batch) == 0 {
			return err
		}
		after = batch[len(batch)-1].ID
		if err := b.copyBatch(ctx, batch, target); err != nil {
			return err
		}
		err = to.Write(ctx, func(tx *catalog.Tx) error {
			for _, c := range batch {
				if err := tx.MoveChunk(c.ID, c.Offset, c.Stored); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// copyBatch copies chunks and sets their new offsets.
func (b *backup) copyBatch(ctx context.Context, batch []catalog.Chunk, target *file) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range batch {
		group.Go(func() error { return b.copyChunk(ctx, &batch[i], target) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return target.heap.Sync()
}

func (b *backup) copyChunk(ctx context.Context, c *catalog.Chunk, target *file) error {
	if err := payload.CheckSize(c); err != nil {
		return err
	}
	buffer, err := b.db.payloads.Buffer(ctx, c.Size, "the backup's buffer")
	if err != nil {
		return err
	}
	defer buffer.Release()
	location, gone, err := b.db.payloads.CopyStored(ctx, c, buffer.Data, target.heap)
	if gone {
		err = conflict(CodeForgotten, "chunk %v was forgotten while it was to be copied; make the backup again", c.Digest)
	}
	if err != nil {
		return err
	}
	c.Offset, c.Stored = location.Offset, location.Stored
	b.step(location)
	return nil
}

func (b *backup) step(location heap.Location) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.progress.Chunks++
	b.progress.Bytes += location.Size
	if b.options.Progress != nil {
		b.options.Progress(b.progress)
	}
}

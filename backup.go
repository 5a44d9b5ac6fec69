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
	// Progress, when not nil, is called now and then, one call at a time.
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
// when ctx ends first; there is no new file then. StatusConflict with CodeInUse
// says that another backup writes to the same path.
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
	if err := b.clear(partial); err != nil {
		return err
	}
	target, err := openContainer(partial, &Options{Logger: b.db.options.Logger})
	if err != nil {
		return openError(partial, err)
	}
	if err = b.write(ctx, target); err == nil {
		err = renameDurably(partial, path)
	}
	if err != nil {
		err = errors.Join(err, removeDatabase(partial))
	}
	return err
}

// clear removes what a backup that was killed left behind, but not what another
// one is writing, nor a file of somebody else's.
func (b *backup) clear(partial string) error {
	if _, err := os.Lstat(partial); err == nil {
		old, err := openContainer(partial, &Options{MustExist: true, Logger: b.db.options.Logger})
		switch {
		case errors.Is(err, container.ErrLocked), errors.Is(err, container.ErrNotDatabase):
			return openError(partial, err)
		case err == nil:
			// Its content does not matter, nor what closing finds wrong.
			_ = old.close()
		}
	}
	return removeDatabase(partial)
}

// removeDatabase removes a database's file, its log and its shared memory, as
// far as they exist.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// write fills the new file and closes it.
func (b *backup) write(ctx context.Context, target *file) (err error) {
	defer func() {
		if closed := target.close(); err == nil {
			err = closed
		}
	}()
	err = b.db.catalog.Read(ctx, catalog.Live, func(v *catalog.View) (err error) {
		if b.progress.TotalChunks, b.progress.TotalBytes, err = v.ChunkTotals(); err != nil {
			return err
		}
		return v.CopyTo(target.dsn())
	})
	if err != nil {
		return asError(err)
	}
	copied, err := catalog.Open(target.dsn(), catalog.Options{Pragmas: target.pragmas()})
	if err != nil {
		return asError(err)
	}
	err = b.copyChunks(ctx, copied, target)
	return asError(errors.Join(err, copied.Close()))
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
				if err := tx.MoveChunk(c.ID, c.Offset); err != nil {
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
	buffer, err := b.db.payloads.Buffer(c.Size, "the backup's buffer")
	if err != nil {
		return err
	}
	defer buffer.Release()
	if err := b.db.payloads.ReadChunk(ctx, c.ID, buffer.Data); err != nil {
		return err
	}
	location, err := target.heap.Append(c.Digest, buffer.Data)
	if err != nil {
		return err
	}
	c.Offset = location.Offset
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

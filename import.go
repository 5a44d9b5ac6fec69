package stardust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/payload"
)

// importBatch bounds what one commit of an import writes: nodes, and bytes of
// payload that became durable with it.
const (
	importBatch      = 1024
	importBatchBytes = 256 << 20
	importReadDir    = 256
)

// Import copies a file system's files and directories into a directory of the
// tree. It reads files in parallel, and many share one commit. Run again it
// takes up where it stopped: content that is stored already is not stored twice,
// files that have it already keep their revision, and those that differ get the
// new content.
//
// What can't be read, or has a name that the tree can't hold, is reported in
// TransferReport.Problems, and the import goes on; so are symbolic links and
// special files, which are skipped and not followed. The error is for what ends
// an import: StatusCanceled when ctx ends, StatusIO with CodeNoSpace for a full
// disk, StatusConflict when writes are held, StatusOutOfMemory when the memory
// budget has no room for a worker's upload, StatusInvalidArgument when the target
// is not a directory and StatusNotFound when it does not exist, StatusClosed. The
// report is valid then too, and what was committed stays.
func (v Objects) Import(ctx context.Context, from fs.FS, into int64, options *TransferOptions) (*TransferReport, error) {
	const op = "objects.import"
	im := &importer{from: from}
	if options != nil {
		im.options = *options
	}
	if err := v.WithContext(ctx).checkTarget(into); err != nil {
		return &im.report, withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return &im.report, withOp(op, err)
	}
	im.objects = v.WithContext(inner)
	im.limitWorkers(v.db.payloads.Uploads())
	err = end(im.run(inner, into))
	return &im.report, withOp(op, err)
}

func (v Objects) checkTarget(into int64) error {
	if err := v.writable(); err != nil {
		return err
	}
	if into == 0 {
		return nil
	}
	r, err := v.Record(into)
	if err == nil && r.Kind != KindDirectory {
		err = invalid("entity %d: is the file %s, not a directory", into, shorten(r.Name))
	}
	return err
}

// importer is one import: a walk that finds files, workers that store their
// content, and a batcher that commits what they bring.
type importer struct {
	transfer
	objects Objects
	from    fs.FS
	files   chan *importItem // from the walk to the workers
	stored  chan *importItem // to the batcher; a directory comes before what is in it
}

// importItem is one file or directory on its way into the tree.
type importItem struct {
	path   string
	name   string
	parent *importDirectory
	made   *importDirectory // of a directory
	draft  *payload.Draft   // of a file, once it is stored
	result importResult
	err    error
}

type importResult int

const (
	resultUnchanged importResult = iota
	resultCreated
	resultUpdated
)

// importDirectory is a directory of the tree. The batcher alone uses its
// entity and failed; the walk does not wait for it.
type importDirectory struct {
	entity int64
	failed bool // it could not be made, so nothing can be in it
}

func (im *importer) run(ctx context.Context, into int64) error {
	im.files = make(chan *importItem, 4*im.options.Workers)
	im.stored = make(chan *importItem, importBatch)
	group, ctx := errgroup.WithContext(ctx)
	// The walk sends to the batcher, too: both channels' senders end together.
	senders, sendCtx := errgroup.WithContext(ctx)
	senders.Go(func() error {
		defer close(im.files)
		return im.walk(sendCtx, &importDirectory{entity: into})
	})
	for range im.options.Workers {
		senders.Go(func() error { return im.store(sendCtx) })
	}
	group.Go(func() error {
		defer close(im.stored)
		return senders.Wait()
	})
	group.Go(func() error { return im.batch(ctx) })
	err := group.Wait()
	for item := range im.stored { // what an error left behind
		if item.draft != nil {
			item.draft.Abandon()
		}
	}
	return err
}

// walk finds everything, without recursion and without following links. It
// sends a directory to the batcher before its files to the workers.
func (im *importer) walk(ctx context.Context, root *importDirectory) error {
	type pending struct {
		path string
		dir  *importDirectory
	}
	for stack := []pending{{".", root}}; len(stack) > 0; {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		err := im.readDir(ctx, top.path, func(entry fs.DirEntry) error {
			path := entry.Name()
			if top.path != "." {
				path = top.path + "/" + path
			}
			item := &importItem{path: path, name: entry.Name(), parent: top.dir}
			if bad := checkName(item.name); bad != nil {
				im.problem(path, bad, false)
				return nil
			}
			switch {
			case entry.IsDir():
				item.made = new(importDirectory)
				stack = append(stack, pending{path, item.made})
				return send(ctx, im.stored, item)
			case entry.Type().IsRegular():
				return send(ctx, im.files, item)
			}
			im.problem(path, fmt.Errorf("is a %s, which is not imported", kindOf(entry.Type())), true)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readDir calls fn with a directory's entries, a few at a time so that a
// directory of any size takes bounded memory. A directory that can't be read
// is a problem, not an error.
func (im *importer) readDir(ctx context.Context, path string, fn func(fs.DirEntry) error) error {
	f, err := im.from.Open(path)
	if err != nil {
		im.problem(path, err, false)
		return nil
	}
	defer f.Close() //nolint:errcheck // reading loses nothing
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		im.problem(path, errors.New("its file system cannot list it"), false)
		return nil
	}
	for {
		entries, err := dir.ReadDir(importReadDir)
		for _, entry := range entries {
			if err := fn(entry); err != nil {
				return err
			}
		}
		if err != nil || len(entries) == 0 {
			if err != nil && !errors.Is(err, io.EOF) {
				im.problem(path, err, false)
			}
			return ctx.Err()
		}
	}
}

func send(ctx context.Context, to chan<- *importItem, item *importItem) error {
	select {
	case to <- item:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// store is a worker: it reads files and stores their content.
func (im *importer) store(ctx context.Context) error {
	for item := range im.files {
		d, err := im.storeFile(ctx, item.path)
		if err != nil {
			var source *sourceError
			if !errors.As(err, &source) {
				return err
			}
			im.problem(item.path, source.err, false)
			im.update(func(r *TransferReport) { r.Files++ })
			continue
		}
		item.draft = d
		if err := send(ctx, im.stored, item); err != nil {
			d.Abandon()
			return err
		}
	}
	return ctx.Err()
}

// sourceError is an error of the file being imported, not of the database.
type sourceError struct{ err error }

func (s *sourceError) Error() string { return s.err.Error() }

func (im *importer) storeFile(ctx context.Context, path string) (*payload.Draft, error) {
	f, err := im.from.Open(path)
	if err != nil {
		return nil, &sourceError{err}
	}
	defer f.Close() //nolint:errcheck // reading loses nothing
	u, err := im.objects.db.payloads.NewUpload()
	if err != nil {
		return nil, err
	}
	_, source, err := u.ReadFrom(ctx, io.TeeReader(&contextReader{ctx, f}, countingWriter{&im.transfer}))
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if source != nil {
		err = &sourceError{source}
	}
	if err != nil {
		u.Close()
		return nil, err
	}
	return u.Detach(ctx)
}

// contextReader ends a long read when its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives for one file
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// readTries is how often a file is read that changes meanwhile.
const readTries = 3

var (
	errOwn   = errors.New("is the database; not stored")
	errLater = errors.New("is being stored by another of its names")
	// ErrChanged says that a file was stored while it changed.
	ErrChanged = errors.New("changed while it was read, each time; what was stored may mix its old content and its new")
)

// store is a worker: it reads files and stores their content.
func (im *importer) store(ctx context.Context) error {
	for item := range im.files {
		ok, err := im.tryItem(ctx, item)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := send(ctx, im.stored, item); err != nil {
			item.Content.Abandon()
			return err
		}
	}
	return ctx.Err()
}

// tryItem stores a file or a symbolic link and reports whether it is to be named.
// The error ends the import.
func (im *importer) tryItem(ctx context.Context, item *Item) (stored bool, _ error) {
	err := im.storeItem(ctx, item)
	var source *SourceError
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, errLater):
		im.later(item)
	case errors.Is(err, errOwn):
		im.skip(item.path, errOwn)
	case errors.As(err, &source):
		im.fail(item.path, source.Err)
		im.done(Failed)
	default:
		return false, err
	}
	return false, nil
}

// storeItem stores a file or a symbolic link, and sets what is known of it.
func (im *importer) storeItem(ctx context.Context, item *Item) (err error) {
	if item.stat.mode.Type() != fs.ModeSymlink {
		item.Content, err = im.storeFile(ctx, item)
		return err
	}
	if item.Content, err = im.storeLink(ctx, item); err == nil {
		im.describe(item, nil)
	}
	return err
}

// storeFile stores a file as it is between two looks at it that agree. One that
// never stands still is stored as it was read last, and reported.
func (im *importer) storeFile(ctx context.Context, item *Item) (content Content, err error) {
	f, before, err := im.openFile(item)
	if err != nil {
		return nil, &SourceError{err}
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	if im.to.Owns(before) {
		return nil, errOwn
	}
	defer func() {
		if err == nil {
			im.describe(item, f)
		}
	}()
	item.stat, item.looked = statOf(before), im.o.Now()
	if content, later := im.knownContent(item); later {
		return nil, errLater
	} else if content != nil {
		im.update(func(r *Report) { r.Bytes += content.Size() })
		return content, nil
	}
	var from io.Reader = f
	var holes *holesReader
	if file, ok := f.(*os.File); ok && item.stat.hasHoles() {
		holes = &holesReader{file: file}
		from = holes
	}
	for try := 1; ; try++ {
		content, err := im.to.Store(ctx, io.TeeReader(&contextReader{ctx, from}, &im.collector))
		if err != nil {
			return nil, err
		}
		item.holes = holes != nil && holes.found
		item.looked = im.o.Now()
		after, err := f.Stat()
		if err != nil {
			content.Abandon()
			return nil, &SourceError{err}
		}
		item.stat = statOf(after)
		if same(before, after, content.Size()) {
			return content, nil
		}
		again, seekable := f.(io.Seeker)
		if try == readTries || !seekable {
			item.stat.exact = false // or the next import would take it for whole
			im.fail(item.path, ErrChanged)
			return content, nil
		}
		content.Abandon()
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return nil, &SourceError{err}
		}
		if holes != nil {
			holes.rewind()
		}
		before = after
	}
}

// same reports whether a file did not change between two looks at it, and was
// read whole. File systems that don't know a size say 0.
func same(before, after fs.FileInfo, read int64) bool {
	return before.Size() == after.Size() && (read == after.Size() || after.Size() == 0) &&
		before.ModTime().Equal(after.ModTime()) && changeTime(before) == changeTime(after)
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

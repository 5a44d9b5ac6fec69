package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// readTries is how often a file is read that changes meanwhile.
const readTries = 3

var (
	errOwn     = errors.New("is the database; not stored")
	errChanged = errors.New("changed while it was read, each time; what was stored may mix its old content and its new")
)

// store is a worker: it reads files and stores their content.
func (im *importer) store(ctx context.Context) error {
	for item := range im.files {
		content, attributes, err := im.storeItem(ctx, item)
		if err != nil {
			var source *SourceError
			switch {
			case errors.Is(err, errOwn):
				im.skip(item.path, errOwn)
			case errors.As(err, &source):
				im.failed(item.path, source.Err)
				im.done(Failed)
			default:
				return err
			}
			continue
		}
		item.Content, item.Attributes = content, attributes
		if err := send(ctx, im.stored, item); err != nil {
			content.Abandon()
			return err
		}
	}
	return ctx.Err()
}

// storeItem stores a file or a symbolic link, and returns what is known of it.
func (im *importer) storeItem(ctx context.Context, item *Item) (Content, []byte, error) {
	if item.link {
		return im.storeLink(ctx, im.links, item.path)
	}
	content, info, err := im.storeFile(ctx, item.path)
	if err != nil {
		return nil, nil, err
	}
	return content, describe(info), nil
}

// storeFile stores a file as it is between two looks at it that agree. One that
// never stands still is stored as it was read last, and reported.
func (im *importer) storeFile(ctx context.Context, path string) (Content, fs.FileInfo, error) {
	f, err := im.from.Open(path)
	if err != nil {
		return nil, nil, &SourceError{err}
	}
	defer func() { _ = f.Close() }() // reading loses nothing
	before, err := f.Stat()
	if err != nil {
		return nil, nil, &SourceError{err}
	}
	if im.to.Owns(before) {
		return nil, nil, errOwn
	}
	for try := 1; ; try++ {
		content, err := im.to.Store(ctx, io.TeeReader(&contextReader{ctx, f}, &im.collector))
		if err != nil {
			return nil, nil, err
		}
		after, err := f.Stat()
		if err != nil {
			content.Abandon()
			return nil, nil, &SourceError{err}
		}
		if same(before, after, content.Size()) {
			return content, after, nil
		}
		again, seekable := f.(io.Seeker)
		if try == readTries || !seekable {
			im.failed(path, errChanged)
			return content, after, nil
		}
		content.Abandon()
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return nil, nil, &SourceError{err}
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

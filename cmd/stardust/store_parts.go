package main

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/objectstore"
)

// Objects above multipartSize are written in parts of at least partSize, a few at
// a time.
const (
	multipartSize = 64 << 20
	partSize      = 16 << 20
	partsAtOnce   = 4
)

// partWriter writes an object: a large one in parts, several at a time.
type partWriter struct {
	store      objectstore.Store
	path       objectstore.Path
	mode       objectstore.PutMode
	attributes objectstore.Attributes
	bar        *bar // may be nil
}

// sections writes the first size bytes of r.
func (w *partWriter) sections(ctx context.Context, r io.ReaderAt, size int64) error {
	step := partSizeOf(size)
	return w.upload(ctx, func(ctx context.Context, put func(number int, body objectstore.Body)) error {
		for number, off := 1, int64(0); off < size && ctx.Err() == nil; number, off = number+1, off+step {
			n := min(step, size-off)
			put(number, objectstore.ReaderAt(io.NewSectionReader(r, off, n), n))
		}
		return ctx.Err()
	})
}

// stream writes everything that r yields, in parts of the sizes that sizeOf
// gives for their numbers, which begin with 1.
func (w *partWriter) stream(ctx context.Context, r io.Reader, sizeOf func(number int) int64) error {
	return w.upload(ctx, func(ctx context.Context, put func(number int, body objectstore.Body)) error {
		for number := 1; ctx.Err() == nil; number++ {
			part := make([]byte, sizeOf(number))
			n, err := readPart(r, part)
			if err != nil && err != io.EOF { // only a bare EOF is an end
				return err
			}
			if n > 0 {
				put(number, objectstore.Bytes(part[:n]))
			}
			if err != nil {
				return nil
			}
		}
		return ctx.Err()
	})
}

// readPart fills part. Its error is io.EOF only at the end that r itself has:
// io.ReadFull would make the same of an end and of a source that was cut off.
func readPart(r io.Reader, part []byte) (n int, err error) {
	for n < len(part) && err == nil {
		var more int
		more, err = r.Read(part[n:])
		n += more
	}
	return n, err
}

// maxParts is S3's limit.
const maxParts = 10_000

// partSizeOf makes the parts of a huge object larger, so that they do not become
// too many.
func partSizeOf(size int64) int64 {
	return max(partSize, (size+maxParts-1)/maxParts)
}

// growingPartSize makes the parts of an object of unknown size larger the more
// there are, so that 900 GiB fit.
func growingPartSize(number int) int64 {
	return partSize << min((number-1)/2000, 4)
}

// upload runs a multipart upload whose parts the function puts.
func (w *partWriter) upload(ctx context.Context, parts func(ctx context.Context, put func(number int, body objectstore.Body)) error) error {
	upload, err := w.store.PutMultipart(ctx, w.path, &objectstore.MultipartOptions{Mode: w.mode, Attributes: w.attributes})
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(partsAtOnce)
	err = parts(groupCtx, func(number int, body objectstore.Body) {
		group.Go(func() error {
			err := upload.PutPart(groupCtx, number, body)
			if err == nil && w.bar != nil {
				w.bar.add(body.Size())
			}
			return err
		})
	})
	if failed := group.Wait(); failed != nil {
		err = failed
	}
	if err == nil {
		_, err = upload.Complete(ctx)
	}
	if err != nil {
		// The upload must be aborted even after Ctrl-C.
		return errors.Join(err, upload.Abort(context.WithoutCancel(ctx)))
	}
	return nil
}

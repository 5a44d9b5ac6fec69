package main

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/objectstore"
)

// partWriter writes a large object in parts, several at a time.
type partWriter struct {
	store      objectstore.Store
	path       objectstore.Path
	mode       objectstore.PutMode
	attributes objectstore.Attributes
	bar        *bar // may be nil
	done       int64
}

// sections writes the first size bytes of r.
func (w *partWriter) sections(ctx context.Context, r io.ReaderAt, size int64) error {
	return w.upload(ctx, func(ctx context.Context, put func(number int, body objectstore.Body)) error {
		for number, off := 1, int64(0); off < size && ctx.Err() == nil; number, off = number+1, off+w.partSize(size) {
			n := min(w.partSize(size), size-off)
			put(number, objectstore.ReaderAt(io.NewSectionReader(r, off, n), n))
		}
		return ctx.Err()
	})
}

// maxParts is S3's limit.
const maxParts = 10_000

// partSize makes the parts of a huge object larger, so that they do not become
// too many.
func (w *partWriter) partSize(size int64) int64 {
	return max(partSize, (size+maxParts-1)/maxParts)
}

// stream writes everything that r yields.
func (w *partWriter) stream(ctx context.Context, r io.Reader) error {
	return w.upload(ctx, func(ctx context.Context, put func(number int, body objectstore.Body)) error {
		for number := 1; ctx.Err() == nil; number++ {
			part := make([]byte, partSize)
			n, err := io.ReadFull(r, part)
			if n > 0 {
				put(number, objectstore.Bytes(part[:n]))
			}
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && n < partSize:
				return nil
			case err != nil:
				return err
			}
		}
		return ctx.Err()
	})
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
		w.done += body.Size()
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
		// The upload must go even when the person has pressed Ctrl-C.
		return errors.Join(err, upload.Abort(context.WithoutCancel(ctx)))
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/objectstore"
)

func newStorePutCommand(e *env) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "put LOCAL URL",
		Short: "Copy a file, or standard input with -, to an object",
		Long: `Copy the local file LOCAL, or standard input with -, to the object at URL. A URL that
ends in a slash takes the file in under its own name. An object that exists is
overwritten, unless --create refuses that. Others see the whole object or none.`,
		Example: `  stardust store put today.log s3://bucket/logs/
  stardust store put - s3://bucket/lock --create </dev/null`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.upload(cmd.Context(), args[0], args[1], create)
		},
	}
	cmd.Flags().BoolVar(&create, "create", false, "fail when the object exists already")
	return cmd
}

// upload copies a local file to an object.
func (e *env) upload(ctx context.Context, local, rawURL string, create bool) error {
	mode := objectstore.Overwrite
	if create {
		mode = objectstore.Create
	}
	if local == "-" {
		return e.withObject(ctx, rawURL, "", true, func(store objectstore.Store, path objectstore.Path) error {
			w := partWriter{store: store, path: path, mode: mode, bar: e.newBar("put", 0)}
			err := w.unknown(ctx, interruptible(ctx, e.in))
			w.bar.done(w.bar.current.Load())
			return stopped(ctx, err, "nothing was stored")
		})
	}
	// The store must not be made for a file that cannot be read.
	file, err := os.Open(local)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = about(quote(local), errors.New("is not a regular file; - takes standard input"))
	}
	if err != nil {
		return err
	}
	return e.withObject(ctx, rawURL, filepath.Base(local), true, func(store objectstore.Store, path objectstore.Path) error {
		w := partWriter{store: store, path: path, mode: mode, bar: e.newBar("put", info.Size())}
		err := w.file(ctx, file, info.Size())
		w.bar.done(w.bar.current.Load())
		return stopped(ctx, err, "nothing was stored")
	})
}

// file writes the first size bytes of r: in one request, or in parts.
func (w *partWriter) file(ctx context.Context, r io.ReaderAt, size int64) error {
	if size > multipartSize {
		return w.sections(ctx, r, size)
	}
	return w.whole(ctx, objectstore.ReaderAt(r, size))
}

// unknown writes what r yields, which may be more than fits into one request.
func (w *partWriter) unknown(ctx context.Context, r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, multipartSize+1))
	if err != nil {
		return err
	}
	if len(data) <= multipartSize {
		return w.whole(ctx, objectstore.Bytes(data))
	}
	return w.stream(ctx, io.MultiReader(bytes.NewReader(data), r), growingPartSize)
}

// whole writes an object in one request.
func (w *partWriter) whole(ctx context.Context, body objectstore.Body) error {
	_, err := w.store.Put(ctx, w.path, body, &objectstore.PutOptions{Mode: w.mode, Attributes: w.attributes})
	if err == nil && w.bar != nil {
		w.bar.add(body.Size())
	}
	return err
}

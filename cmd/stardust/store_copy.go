package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/objectstore"
)

// Objects above multipartSize are written in parts of partSize, a few at a time.
const (
	multipartSize = 64 << 20
	partSize      = 16 << 20
	partsAtOnce   = 4
)

func newStoreGetCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get URL [LOCAL]",
		Short: "Copy an object to a file, or to standard output with -",
		Example: `  stardust store get s3://bucket/logs/today.log
  stardust store get s3://bucket/logs/today.log - | grep error`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withObject(cmd.Context(), args[0], func(store objectstore.Store, path objectstore.Path) error {
				local := argument(args, 1)
				if local == "" {
					local = path.Base()
				}
				return e.download(cmd.Context(), store, path, local)
			})
		},
	}
	return cmd
}

// download writes an object to a local file, under a temporary name until it is
// whole.
func (e *env) download(ctx context.Context, store objectstore.Store, path objectstore.Path, local string) (err error) {
	result, err := store.Get(ctx, path, nil)
	if err != nil {
		return err
	}
	defer result.Body.Close() //nolint:errcheck // reading loses nothing
	b := e.newBar("get", result.Meta.Size)
	defer func() { b.done(result.Meta.Size) }()
	body := countingReader{result.Body, b}
	if local == "-" {
		_, err = io.Copy(e.out, body)
		return err
	}
	temporary, err := os.CreateTemp(dirOf(local), ".stardust-get-")
	if err != nil {
		return err
	}
	_, err = io.Copy(temporary, body)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), local)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

func dirOf(local string) string {
	if i := strings.LastIndexByte(local, os.PathSeparator); i >= 0 {
		return local[:i+1]
	}
	return "."
}

func newStorePutCommand(e *env) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "put LOCAL URL",
		Short: "Copy a file, or standard input with -, to an object",
		Example: `  stardust store put today.log s3://bucket/logs/today.log
  stardust store put - s3://bucket/lock --create </dev/null`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withTargetObject(cmd.Context(), args[1], func(store objectstore.Store, path objectstore.Path) error {
				mode := objectstore.Overwrite
				if create {
					mode = objectstore.Create
				}
				return e.upload(cmd.Context(), args[0], store, path, mode)
			})
		},
	}
	cmd.Flags().BoolVar(&create, "create", false, "fail when the object exists already")
	return cmd
}

func (e *env) upload(ctx context.Context, local string, store objectstore.Store, path objectstore.Path, mode objectstore.PutMode) error {
	if local == "-" {
		data, err := io.ReadAll(io.LimitReader(e.in, multipartSize+1))
		if err != nil {
			return err
		}
		if len(data) <= multipartSize {
			_, err = store.Put(ctx, path, objectstore.Bytes(data), &objectstore.PutOptions{Mode: mode})
			return err
		}
		b := e.newBar("put", 0)
		w := partWriter{store: store, path: path, mode: mode, bar: b}
		err = w.stream(ctx, io.MultiReader(strings.NewReader(string(data)), e.in))
		b.done(w.done)
		return err
	}
	file, err := os.Open(local)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from
	info, err := file.Stat()
	if err != nil {
		return err
	}
	b := e.newBar("put", info.Size())
	defer func() { b.done(info.Size()) }()
	if info.Size() <= multipartSize {
		_, err = store.Put(ctx, path, objectstore.ReaderAt(file, info.Size()), &objectstore.PutOptions{Mode: mode})
		return err
	}
	w := partWriter{store: store, path: path, mode: mode, bar: b}
	return w.sections(ctx, file, info.Size())
}

func newStoreRmCommand(e *env) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "rm URL...",
		Short: "Delete objects",
		Long: `Delete objects. With --recursive everything under the URL goes. There is no way
back, unless the bucket keeps versions.`,
		Example: `  stardust store rm s3://bucket/logs/today.log
  stardust store rm -r s3://bucket/tmp/`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				remove := e.removeObject
				if recursive {
					remove = e.removeAll
				}
				if err := remove(cmd.Context(), arg); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "delete everything under the URL")
	return cmd
}

func (e *env) removeObject(ctx context.Context, rawURL string) error {
	return e.withObject(ctx, rawURL, func(store objectstore.Store, path objectstore.Path) error {
		return store.Delete(ctx, path)
	})
}

// removeBatch is how many paths a recursive deletion collects before it deletes.
const removeBatch = 1000

func (e *env) removeAll(ctx context.Context, rawURL string) error {
	return e.withStore(ctx, rawURL, func(store objectstore.Store) error {
		var removed int64
		for {
			var batch []objectstore.Path
			for meta, err := range store.List(ctx, nil) {
				if err != nil {
					return about(rawURL, err)
				}
				if batch = append(batch, meta.Path); len(batch) == removeBatch {
					break
				}
			}
			if len(batch) == 0 {
				e.printf("%s deleted.\n", objects(removed))
				return nil
			}
			for path, err := range objectstore.DeleteAll(ctx, store, slices.Values(batch)) {
				if err != nil {
					return about(path.String(), err)
				}
				removed++
			}
		}
	})
}

func newStoreCpCommand(e *env) *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "cp FROM-URL TO-URL",
		Short: "Copy objects from one store to another",
		Example: `  stardust store cp s3://bucket/a.bin file:///tmp/a.bin
  stardust store cp -r s3://bucket/db file:///backup/db`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if recursive {
				return e.copyAll(cmd.Context(), args[0], args[1])
			}
			return e.withObject(cmd.Context(), args[0], func(from objectstore.Store, source objectstore.Path) error {
				return e.withTargetObject(cmd.Context(), args[1], func(to objectstore.Store, target objectstore.Path) error {
					meta, err := objectstore.Head(cmd.Context(), from, source)
					if err != nil {
						return err
					}
					b := e.newBar("copy", meta.Size)
					defer func() { b.done(meta.Size) }()
					return copyObject(cmd.Context(), from, source, to, target, b)
				})
			})
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "r", false, "copy everything under FROM-URL")
	return cmd
}

func (e *env) copyAll(ctx context.Context, fromURL, toURL string) error {
	return e.withStore(ctx, fromURL, func(from objectstore.Store) error {
		return e.withTarget(ctx, toURL, func(to objectstore.Store) error {
			b := e.newBar("copy", 0)
			group, groupCtx := errgroup.WithContext(ctx)
			group.SetLimit(partsAtOnce)
			var count, total int64
			for meta, err := range from.List(groupCtx, nil) {
				if err != nil {
					return errors.Join(about(fromURL, err), group.Wait())
				}
				count, total = count+1, total+meta.Size
				b.setTotal(total)
				group.Go(func() error {
					return about(meta.Path.String(), copyObject(groupCtx, from, meta.Path, to, meta.Path, b))
				})
			}
			err := group.Wait()
			b.done(total)
			if err == nil {
				e.printf("%s copied (%s).\n", objects(count), humanSize(total))
			}
			return stopped(ctx, err, "what was copied stays")
		})
	})
}

// copyObject streams an object from one store to another, with its attributes.
func copyObject(ctx context.Context, from objectstore.Store, source objectstore.Path, to objectstore.Store, target objectstore.Path, b *bar) error {
	result, err := from.Get(ctx, source, nil)
	if err != nil {
		return err
	}
	defer result.Body.Close() //nolint:errcheck // reading loses nothing
	body := countingReader{result.Body, b}
	if result.Meta.Size <= multipartSize {
		_, err = to.Put(ctx, target, objectstore.Stream(body, result.Meta.Size), &objectstore.PutOptions{Attributes: result.Attributes})
		return err
	}
	w := partWriter{store: to, path: target, attributes: result.Attributes}
	return w.stream(ctx, body)
}

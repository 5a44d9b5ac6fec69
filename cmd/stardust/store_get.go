package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/objectstore"
)

func newStoreGetCommand(e *env) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "get URL [LOCAL]",
		Short: "Copy an object to a file, or to standard output with -",
		Long: `Copy the object at URL to the local file LOCAL. When LOCAL is a directory, or left
out, the file lands in it, or in the working directory, under the object's name.
LOCAL - is standard output.

The local file is there whole or not at all; one that exists is only overwritten
with --replace.`,
		Example: `  stardust store get s3://bucket/logs/today.log
  stardust store get s3://bucket/logs/today.log - | grep error`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.withObject(cmd.Context(), args[0], "", false, func(store objectstore.Store, path objectstore.Path) error {
				if argument(args, 1) == "-" {
					return stopped(cmd.Context(), e.printObject(cmd.Context(), store, path), "the output is not complete")
				}
				err := e.download(cmd.Context(), store, path, argument(args, 1), replace)
				return stopped(cmd.Context(), err, "no local file was written")
			})
		},
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "overwrite a local file that is there already")
	return cmd
}

// printObject writes an object to standard output.
func (e *env) printObject(ctx context.Context, store objectstore.Store, path objectstore.Path) error {
	result, err := store.Get(ctx, path, nil)
	if err != nil {
		return err
	}
	defer result.Body.Close()
	_, err = io.Copy(e.out, contextReader(ctx, result.Body))
	return err
}

// download writes an object to a local file, which is there whole or not at all.
func (e *env) download(ctx context.Context, store objectstore.Store, path objectstore.Path, local string, replace bool) error {
	directory, name, err := localPlace(local, path.Base())
	if err != nil {
		return err
	}
	result, err := store.Get(ctx, path, nil)
	if err != nil {
		return err
	}
	defer result.Body.Close()
	b := e.newBar("get", result.Meta.Size)
	err = saveLocal(writerTo{contextReader(ctx, result.Body)}, b, directory, name, new(attributes.File), replace)
	b.done(b.current.Load())
	return err
}

// writerTo lets a reader be copied from.
type writerTo struct{ r io.Reader }

func (w writerTo) WriteTo(to io.Writer) (int64, error) { return io.Copy(to, w.r) }

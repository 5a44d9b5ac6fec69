package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/transfer"
)

func newGetCommand(e *env) *cobra.Command {
	var at revision
	var replace bool
	var keep preserve
	cmd := &cobra.Command{
		Use:        "get FILE PATH [LOCAL]",
		SuggestFor: []string{"cp", "copy"},
		Short:      "Copy one file out of the database",
		Long: `Copy the file PATH of the database to the local file LOCAL. When LOCAL is a
directory, or left out, the file lands in it, or in the working directory, under
its own name. LOCAL - is standard output.

The local file is there whole or not at all; one that exists is only overwritten
with --replace. A symbolic link is made again as a link, and on standard output
is its target.`,
		Example: `  stardust get notes.stardust essays/2026/draft.md
  stardust get notes.stardust todo.txt old-todo.txt --at 12`,
		Args:    arguments(2, 3),
		GroupID: groupTransfer,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return e.read(ctx, args[0], &at, func(s *session) error {
				return runGet(ctx, e, s, args[1], argument(args, 2), replace, &keep)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath, completeLocal),
	}
	atFlag(cmd, &at)
	preserveFlag(cmd, &keep, "restore")
	cmd.Flags().BoolVar(&replace, "replace", false, "overwrite a local file that is there already")
	return cmd
}

func runGet(ctx context.Context, e *env, s *session, path, local string, replace bool, keep *preserve) error {
	r, err := s.fileAt(path)
	if err != nil {
		return err
	}
	stream, err := s.tree.Open(r.Digest)
	if err != nil {
		return err
	}
	defer stream.Close()
	if local == "-" {
		_, err := stream.WriteTo(e.out)
		return err
	}
	directory, name, err := localPlace(local, r.Name)
	if err != nil {
		return err
	}
	known, err := s.tree.FileAttributes(r.Entity)
	if err != nil {
		return err
	}
	b := e.newBar("get", r.Size)
	err = saveLocal(stream, b, directory, name, keep.filtered(&known), replace)
	b.done(b.current.Load())
	if lost, ok := errors.AsType[*transfer.LostAttributesError](err); ok {
		return about(quote(filepath.Join(directory, name)), lost)
	}
	return stopped(ctx, err, "no local file was written")
}

// localPlace returns where a file called name lands for LOCAL: in it if it is a
// directory, in the working directory if it is empty, otherwise under that
// name.
func localPlace(local, name string) (directory, file string, err error) {
	directory, file = filepath.Split(local)
	if info, err := os.Stat(local); local == "" || err == nil && info.IsDir() || strings.HasSuffix(local, string(filepath.Separator)) {
		directory, file = local, name
	}
	if !filepath.IsLocal(file) || strings.ContainsRune(file, filepath.Separator) {
		return "", "", fmt.Errorf("%s cannot be the name of a local file; give another as LOCAL", quote(file))
	}
	if directory == "" {
		directory = "."
	}
	return directory, file, nil
}

// fileAt returns the record of a file.
func (s *session) fileAt(path string) (stardust.Record, error) {
	path = cleanPath(path)
	r, err := s.tree.Resolve(path)
	if err == nil && isDirectory(r) {
		err = about(absolute(path), errors.New("is a directory; stardust export copies what is in it"))
	}
	return r, err
}

// saveLocal writes a new file and then gives it its name. What a killed get
// left behind is removed first.
func saveLocal(from io.WriterTo, b *bar, directory, name string, kept *attributes.File, replace bool) (err error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	place := filepath.Join(directory, name)
	old, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular() && old.Mode().Type() != fs.ModeSymlink:
		return about(quote(place), errors.New("something that is not a file is in the way"))
	case !replace:
		return about(quote(place), errors.New("exists already; --replace overwrites it"))
	}
	if err := transfer.RemoveTemporaries(root); err != nil {
		return about(quote(directory), err)
	}
	if old != nil && !old.Mode().IsRegular() {
		old = nil // a link has no permissions to take over
	}
	if kept.Type == attributes.Symlink {
		return about(quote(place), transfer.SaveLink(root, name, kept, from.WriteTo))
	}
	return about(quote(place), transfer.Save(root, name, old, kept, func(w io.Writer) error {
		_, err := from.WriteTo(io.MultiWriter(w, countingWriter{b}))
		return err
	}))
}

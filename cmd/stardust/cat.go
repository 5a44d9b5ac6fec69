package main

import (
	"io"

	"github.com/spf13/cobra"
)

// reading is the range of bytes that cat prints.
type reading struct{ offset, length int64 }

func newCatCommand(e *env) *cobra.Command {
	var at revision
	var r reading
	cmd := &cobra.Command{
		Use:   "cat FILE PATH...",
		Short: "Print files to standard output",
		Long: `Print the bytes of files to standard output, one after another. Every byte is
verified against its digest before it is printed.`,
		Example: `  stardust cat notes.stardust todo.txt
  stardust cat notes.stardust todo.txt --at 12
  stardust cat notes.stardust backups/src.tar --offset 512 --length 100`,
		Args:    arguments(2, -1),
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.offset < 0 || r.length < -1 {
				return usagef("--offset and --length cannot be negative")
			}
			return e.read(cmd.Context(), args[0], &at, func(s *session) error {
				for _, path := range args[1:] {
					if err := r.print(e, s, path); err != nil {
						return err
					}
				}
				return nil
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath),
	}
	atFlag(cmd, &at)
	cmd.Flags().Int64Var(&r.offset, "offset", 0, "begin at this byte of each file")
	cmd.Flags().Int64Var(&r.length, "length", -1, "print at most this many bytes of each file (-1: all)")
	return cmd
}

func (r reading) print(e *env, s *session, path string) error {
	record, err := s.fileAt(path)
	if err != nil {
		return err
	}
	stream, err := s.tree.Open(record.Digest)
	if err != nil {
		return err
	}
	defer stream.Close()
	if r.offset > 0 {
		if _, err := stream.Seek(r.offset, io.SeekStart); err != nil {
			return err
		}
	}
	if r.length < 0 {
		_, err = stream.WriteTo(e.out)
	} else {
		_, err = io.Copy(e.out, io.LimitReader(stream, r.length))
	}
	return about(absolute(cleanPath(path)), err)
}

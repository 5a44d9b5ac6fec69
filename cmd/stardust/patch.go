package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// maxPatch bounds the text of a patch, in bytes.
const maxPatch = 64 << 20

func newPatchCommand(e *env) *cobra.Command {
	var expected int64
	cmd := &cobra.Command{
		Use:   "patch FILE PATH PATCH",
		Short: "Change the attributes of a file or directory",
		Long: `Apply a merge patch (RFC 7396) to the attributes of the file or directory PATH and
print all of them: null removes a member, objects merge, anything else replaces.

PATCH is DUST or JSON; - reads it from standard input.`,
		Example: `  stardust patch notes.stardust todo.txt '{owner ada tags [home urgent]}'
  stardust patch notes.stardust todo.txt '{"owner": null}'`,
		Args:    arguments(3, 3),
		GroupID: groupChange,
		RunE: func(cmd *cobra.Command, args []string) error {
			if expected < 0 {
				return usagef("--expect cannot be negative")
			}
			patch, err := e.readPatch(cmd.Context(), args[2])
			if err != nil {
				return err
			}
			defer patch.Close()
			return e.write(cmd.Context(), args[0], false, func(s *session) error {
				return s.patch(cmd.Context(), e, cleanPath(args[1]), patch, expected)
			})
		},
		ValidArgsFunction: e.complete(completeFile, completePath, completeNothing),
	}
	cmd.Flags().Int64Var(&expected, "expect", 0, "refuse when this is no longer the node's revision (0: don't look)")
	return cmd
}

// readPatch reads a patch from an argument or from standard input. Every JSON
// text is a DUST text of the same value.
func (e *env) readPatch(ctx context.Context, text string) (*stardust.Document, error) {
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(interruptible(ctx, e.in), maxPatch+1))
		if err != nil {
			return nil, about("standard input", err)
		}
		if len(data) > maxPatch {
			return nil, fmt.Errorf("the patch is longer than %s", humanSize(maxPatch))
		}
		text = string(data)
	}
	return stardust.Parse([]byte(text), stardust.DUST)
}

func (s *session) patch(ctx context.Context, e *env, path string, patch *stardust.Document, expected int64) error {
	r, err := s.tree.Resolve(path)
	if err != nil {
		return err
	}
	if r.Entity == 0 {
		return about("/", fmt.Errorf("the root directory has no attributes"))
	}
	attributes, err := s.db.PatchContext(ctx, r.Entity, patch, expected)
	if err != nil {
		return about(absolute(path), err)
	}
	defer attributes.Close()
	text, err := attributes.Indent()
	if err != nil {
		return err
	}
	e.println(string(text))
	return nil
}

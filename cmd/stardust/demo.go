package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// act is one part of the demo. It plays on a stage and cleans up nothing: the
// stage does.
type act struct {
	title string
	play  func(ctx context.Context, s *stage) error
}

// acts are the parts of the demo in their order.
func acts() []act {
	return []act{databaseAct(), mirrorAct()}
}

func newDemoCommand(e *env) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Show what Stardust does, on real files",
		Long: `Show what Stardust does, on a copy of real files in a temporary directory: those of
DIR, or of Stardust's own source when the working directory lies in it, or else
some that the demo writes. It ends by itself and removes the directory, unless
--keep is given.`,
		Example: `  stardust demo
  stardust demo ~/Documents --keep`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDemo(cmd.Context(), e, argument(args, 0), keep)
		},
		ValidArgsFunction: e.complete(completeLocal),
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the directory with the database, to try things")
	return cmd
}

func runDemo(ctx context.Context, e *env, source string, keep bool) (err error) {
	if source != "" {
		root, err := openLocalDirectory(source)
		if err != nil {
			return err
		}
		if err := root.Close(); err != nil {
			return err
		}
	} else {
		source = ownSource()
	}
	dir, err := os.MkdirTemp("", "stardust-demo-")
	if err != nil {
		return err
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	s := newStage(e, dir, source)
	s.say("Everything happens in a new directory. What you see are real commands:\n")
	s.prompt("cd " + dir)
	for _, a := range acts() {
		s.say("\n=== %s ===", a.title)
		if err := a.play(ctx, s); err != nil {
			return stopped(ctx, err, "the demo stopped early; nothing of yours was touched")
		}
	}
	s.epilogue(keep)
	return nil
}

// ownSource returns the source tree of this module, when the working directory
// lies in it, or empty.
func ownSource() string {
	dir, err := os.Getwd()
	for err == nil {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/stardustdb/stardust\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return ""
}

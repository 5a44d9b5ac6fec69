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

// demoFlags are those of demo.
type demoFlags struct {
	keep   bool
	serve  bool
	listen string
}

func newDemoCommand(e *env) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [DIR]",
		Short: "Show what Stardust does, on real files",
		Long: `Show what Stardust does, on a copy of real files in a temporary directory: those of
DIR, or of Stardust's own source when the working directory lies in it, or else
some that the demo writes. It ends by itself and removes the directory, unless
--keep is given. With --serve it plays the database's part and then serves the
page on what that left, for you to look around, until it is interrupted.`,
		Example: `  stardust demo
  stardust demo --serve
  stardust demo ~/Documents --keep`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDemo(cmd.Context(), e, argument(args, 0), &f)
		},
		ValidArgsFunction: e.complete(completeLocal),
	}
	cmd.Flags().BoolVar(&f.keep, "keep", false, "keep the directory with the database, to try things")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "serve the page on the demo's data until interrupted")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "where --serve listens; port 0 is any that is free")
	return cmd
}

func runDemo(ctx context.Context, e *env, source string, f *demoFlags) (err error) {
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
	if !f.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	s := newStage(e, dir, source)
	s.say("Everything happens in a new directory. What you see are real commands:\n")
	s.prompt("cd " + dir)
	played := acts()
	if f.serve {
		played = played[:1]
	}
	for _, a := range played {
		s.say("\n=== %s ===", a.title)
		if err := a.play(ctx, s); err != nil {
			return stopped(ctx, err, "the demo stopped early; nothing of yours was touched")
		}
	}
	if f.serve {
		return servePage(ctx, s, f)
	}
	s.epilogue(f.keep)
	return nil
}

// servePage serves what the first act left, until ctx ends.
func servePage(ctx context.Context, s *stage, f *demoFlags) error {
	s.say("\n=== The page ===")
	s.prompt("stardust serve demo.stardust")
	flags := databaseServeFlags{listen: []string{f.listen}, memory: defaultServeMemory, api: true, page: true, webdav: true}
	flags.announce = func(address string) {
		s.say("Open %s in a browser. Ctrl-C ends it%s.", address, map[bool]string{false: " and removes the directory"}[f.keep])
		s.show()
	}
	return s.env.serveDatabases(ctx, []string{s.path(demoDatabase)}, &flags)
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

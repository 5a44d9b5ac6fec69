package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// stage is where the demo's acts play: a directory of their own, which commands
// run in, and what the audience sees.
type stage struct {
	env    *env   // what commands use
	dir    string // the directory of the demo
	source string // a directory of real files to copy from, or empty
}

func newStage(e *env, dir, source string) *stage {
	shown := *e
	shown.outTerminal = true // people watch, even through a pipe
	shown.errTerminal = false
	shown.quiet = true
	shown.indexes = "" // what it imports goes with its directory
	return &stage{env: &shown, dir: dir, source: source}
}

// say prints a line of explanation.
func (s *stage) say(format string, args ...any) { s.env.println(fmt.Sprintf(format, args...)) }

// show lets the audience see what was said so far, before something slow. A
// broken stream shows at the end.
func (s *stage) show() { s.env.out.Flush() }

// prompt prints a command line as a person would type it.
func (s *stage) prompt(line string) { s.env.println("$ " + line) }

// path returns the place of a file in the stage's directory.
func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// command shows a command line of stardust and runs it. Arguments that s.path
// made are shown as seen from the directory.
func (s *stage) command(ctx context.Context, args ...string) error {
	shown := make([]string, len(args))
	for i, arg := range args {
		shown[i] = shellWord(strings.TrimPrefix(arg, s.dir+string(filepath.Separator)))
	}
	s.prompt("stardust " + strings.Join(shown, " "))
	e := *s.env
	root := newRootCommand(&e)
	root.SetArgs(append(args, "--quiet"))
	err := root.ExecuteContext(ctx)
	if flushed := s.env.out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// shellWord quotes a word for a shell.
func shellWord(word string) string {
	for _, r := range word {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./=:,+@%", r) {
			return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return word
}

// epilogue says what to try next.
func (s *stage) epilogue(keep bool) {
	program := programName()
	s.say("\n=== Try next ===")
	if keep {
		s.say("The directory is still there; remove it when you are done.")
		s.prompt("cd " + s.dir)
	} else {
		s.say("The demo has removed its directory (--keep leaves it). With your own files:")
	}
	s.say("$ %s import my.stardust ~/Documents", program)
	s.say("$ %s log my.stardust", program)
	s.say("$ %s mirror serve --upstream s3://bucket --dir mirror --policy lru --limit 10GiB", program)
	s.say("$ %s --help", program)
}

// programName returns what starts this program again.
func programName() string {
	path, err := os.Executable()
	if err == nil && strings.Contains(path, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/stardust"
	}
	return "stardust"
}

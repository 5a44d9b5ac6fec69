package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const docsFile = "../../docs/cli.md"

// updateFlag asks to rewrite docs/cli.md with what the commands print now.
const updateFlag = "update"

// Every example of docs/cli.md prints what the page says.
func TestDocumentedExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples are for a POSIX shell")
	}
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var page strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case !inside:
			inside = line == "```console\n"
			page.WriteString(line)
		case line == "```\n":
			inside = false
			page.WriteString(line)
		case strings.HasPrefix(line, "$ "):
			page.WriteString(line)
			page.WriteString(printed(t, dir, strings.TrimPrefix(line, "$ ")))
		}
	}
	if page.String() == string(text) {
		return
	}
	if flag.Lookup(updateFlag).Value.String() == "true" {
		if err := os.WriteFile(docsFile, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := strings.Split(string(text), "\n"), strings.Split(page.String(), "\n")
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Fatalf("%s:%d: the page says\n%s\nand the command\n%s\n(go test ./cmd/stardust -run Documented -update rewrites the page)", docsFile, i+1, want[i], got[i])
		}
	}
	t.Fatalf("%s has %d lines, and the commands print %d", docsFile, len(want), len(got))
}

// printed runs a line of a shell and returns what it prints, with what differs
// from run to run made the same.
func printed(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(out), dir, "/home/ada")
	for _, v := range []struct{ pattern, same string }{
		{`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, "2026-12-02 10:15:30"},
		{`(?m)^(identity +)[0-9a-f]{32}$`, "${1}b151cf94eda274e49d552e613e9c40cc"},
		{`(?m)^(file size +)\d+$`, "${1}278528"},
		{`("mtime": *)"[^"]*"`, `${1}"2026-12-02T10:15:30.123456789Z"`},
		{`entity \d+ has`, "entity 3 has"}, // an import reads files in any order
		{`(?m)^(Backed up .*)\(.*\)`, "${1}(272 KiB)"},
	} {
		text = regexp.MustCompile(v.pattern).ReplaceAllString(text, v.same)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// docs/cli.md has a section for every command, by its usage line.
func TestEveryCommandIsDocumented(t *testing.T) {
	text, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	var check func(parent *cobra.Command)
	check = func(parent *cobra.Command) {
		for _, cmd := range parent.Commands() {
			if !cmd.IsAvailableCommand() || cmd.Name() == "help" || cmd.Name() == "completion" {
				continue
			}
			if cmd.HasSubCommands() {
				check(cmd)
				continue
			}
			if heading := "### `" + cmd.UseLine(); !strings.Contains(string(text), strings.TrimSuffix(heading, " [flags]")+"`\n") {
				t.Errorf("%s has no section %q", docsFile, heading)
			}
			if cmd.Example == "" || cmd.Short == "" {
				t.Errorf("%s lacks an example or a short text", cmd.CommandPath())
			}
			if !parent.HasParent() && cmd.ValidArgsFunction == nil {
				t.Errorf("%s lacks completion", cmd.CommandPath())
			}
		}
	}
	check(newRootCommand(newEnv()))
}

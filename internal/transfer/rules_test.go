package transfer

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestRulesMatchAsGitignoreDoes(t *testing.T) {
	for _, test := range []struct {
		lines string
		path  string
		want  bool // as a file
		dir   bool // as a directory
	}{
		{"*.o", "a.o", true, true},
		{"*.o", "d/a.o", true, true},
		{"*.o\n!keep.o", "d/keep.o", false, false},
		{"!keep.o\n*.o", "d/keep.o", true, true},
		{"/a", "d/a", false, false},
		{"/a", "a", true, true},
		{"d/a", "d/a", true, true},
		{"d/a", "e/d/a", false, false},
		{"build/", "x/build", false, true},
		{"a/**/b", "a/b", true, true},
		{"a/**/b", "a/x/y/b", true, true},
		{"a/**", "a", false, false},
		{"a/**", "a/x", true, true},
		{"**/foo", "x/foo", true, true},
		{"# comment", "# comment", false, false},
		{`\#x`, "#x", true, true},
		{`\!x`, "!x", true, true},
		{"trailing  ", "trailing", true, true},
		{`space\ `, "space ", true, true},
		{"{a,b}", "a", false, false},
		{"{a,b}", "{a,b}", true, true},
		{"[!a]x", "bx", true, true},
		{"[[:digit:]]", "7", true, true},
		{"a*b", "a/b", false, false},
		{"", "x", false, false},
		{"/", "x", false, false},
	} {
		rules := new(Rules)
		if err := rules.Read(strings.NewReader(test.lines)); err != nil {
			t.Errorf("%q: %v", test.lines, err)
		}
		if file, dir := rules.Match(test.path, false), rules.Match(test.path, true); file != test.want || dir != test.dir {
			t.Errorf("%q matches %q: %v, as a directory %v", test.lines, test.path, file, dir)
		}
	}
	if err := new(Rules).Add("a[b"); err == nil {
		t.Error("a pattern with an open bracket was taken")
	}
}

// quirk is a literal before two asterisks, which git 2.39 takes off first, so that
// what its manual calls a regular asterisk crosses directories.
var quirk = regexp.MustCompile(`[^/!]\*\*`)

// TestRulesAgreeWithGit compares with the program itself, on random patterns and
// paths of few letters.
func TestRulesAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs the program git")
	}
	dir := t.TempDir()
	if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git init: %v\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for range 40 {
		var lines []string
		for range 1 + random.IntN(4) {
			line := pick("", "", "!", "/")
			for i := range 1 + random.IntN(4) {
				if i > 0 {
					line += pick("", "/")
				}
				line += pick("a", "b", "ab", "*", "**", "?", "[ab]", "[!a]", "{a}")
			}
			if quirk.MatchString(line) {
				continue
			}
			lines = append(lines, line+pick("", "", "/"))
		}
		rules := new(Rules)
		if err := rules.Read(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
			continue
		}
		var paths []string
		for range 60 {
			path := pick("a", "b", "ab", "c")
			for range random.IntN(4) {
				path += "/" + pick("a", "b", "ab", "c")
			}
			paths = append(paths, path)
		}
		file := filepath.Join(dir, "rules")
		writeFile(t, file, strings.Join(lines, "\n")+"\n")
		cmd := exec.Command(git, "-C", dir, "-c", "core.excludesFile="+file, "check-ignore", "--no-index", "-n", "-v", "--stdin")
		cmd.Stdin = strings.NewReader(strings.Join(paths, "\n") + "\n")
		out, _ := cmd.Output() // 1 when nothing matched
		said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(said) != len(paths) {
			t.Fatalf("git said %d lines of %d paths: %s", len(said), len(paths), out)
		}
		for i, path := range paths {
			verdict, _, _ := strings.Cut(said[i], "\t")
			parts := strings.SplitN(verdict, ":", 3)
			want := verdict != "::" && !strings.HasPrefix(parts[2], "!")
			if got := rules.MatchAny(path); got != want {
				t.Errorf("%q: %s is %v, git says %v (%s)", lines, path, got, want, fmt.Sprint(said[i]))
			}
		}
	}
}

package main_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The program of docs/c.md compiles, and prints what the page says. With -update
// the page says what it prints.
func (l *library) testGuide(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "c.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), "```c\n")
	source, rest, _ := strings.Cut(rest, "```\n")
	between, rest, _ := strings.Cut(rest, "```\n")
	want, after, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatalf("%s has no program with its output", page)
	}
	file := l.path("notes.c")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	program := l.path("notes")
	run(t, ".", "cc", append(strict(), "-std=c99", "-I", ".", file, "-o", program, "-L", l.dir, "-lstardust", "-Wl,-rpath,"+l.dir)...)
	got := run(t, t.TempDir(), program)
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the page says\n%s\nand the program prints\n%s\n(-update rewrites the page)", want, got)
	}
	page = filepath.Clean(page)
	whole := before + "```c\n" + source + "```\n" + between + "```\n" + got + "```\n" + after
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
}

// update asks to rewrite docs/c.md with what its program prints.
var update = flag.Bool("update", false, "rewrite docs/c.md with what its program prints")

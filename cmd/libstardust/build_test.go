package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// library is libstardust, built once for all tests of a run, and the programs
// that are compiled against it.
type library struct {
	dir    string // has the library and what is compiled
	source string // has stardust.h
}

// buildLibrary builds the shared library, with the Go toolchain and the C
// compiler of this machine, or says what is missing.
func buildLibrary(t *testing.T, flags ...string) *library {
	t.Helper()
	need(t, "go")
	need(t, "cc")
	if out := run(t, ".", "go", "env", "CGO_ENABLED"); strings.TrimSpace(out) != "1" {
		t.Skip("cgo is switched off, and the C library needs it")
	}
	source, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	l := &library{t.TempDir(), source}
	arguments := append([]string{"build", "-buildmode=c-shared", "-ldflags=-extldflags=-Wl,-soname,libstardust.so.1", "-o", l.path("libstardust.so.1")}, flags...)
	run(t, ".", "go", append(arguments, ".")...)
	if err := os.Symlink("libstardust.so.1", l.path("libstardust.so")); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *library) path(name string) string { return filepath.Join(l.dir, name) }

// strict are the flags under which everything compiles without a word.
func strict() []string {
	return []string{"-Wall", "-Wextra", "-Werror", "-Wpedantic", "-D_GNU_SOURCE", "-g", "-O1"}
}

// compile makes a program of a C file in testdata and returns its path.
func (l *library) compile(t *testing.T, compiler, name string, flags ...string) string {
	t.Helper()
	need(t, compiler)
	program := l.path(name + "-" + compiler + "-" + strconv.Itoa(len(flags)))
	arguments := append(strict(), "-std=c11", "-I", l.source, filepath.Join("testdata", name+".c"), "-o", program)
	arguments = append(arguments, flags...)
	run(t, ".", compiler, append(arguments, "-L", l.dir, "-lstardust", "-lpthread", "-Wl,-rpath,"+l.dir)...)
	return program
}

// need skips a test that needs a program which isn't here.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

// run runs a program that must succeed, and returns its standard output.
func run(t *testing.T, dir, program string, arguments ...string) string {
	t.Helper()
	return runIn(t, dir, nil, program, arguments...)
}

// runIn is run with variables added to the environment.
func runIn(t *testing.T, dir string, env []string, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, ends(out), ends(problems.Bytes()))
	}
	return string(out)
}

// ends returns the two ends of an output: Go says what went wrong where the dump
// of its goroutines begins, others where they end.
func ends(out []byte) string {
	const most = 4000
	if len(out) <= 2*most {
		return string(out)
	}
	left := strconv.Itoa(len(out) - 2*most)
	return string(out[:most]) + "\n... (" + left + " bytes left out) ...\n" + string(tail(out))
}

// tail returns the end of an output.
func tail(out []byte) []byte { return out[max(0, len(out)-4000):] }

// workDir returns a directory for a program's databases, with files to import.
func workDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		content := bytes.Repeat([]byte{byte(i)}, 1000*i)
		if err := os.WriteFile(filepath.Join(dir, "in", "file"+strconv.Itoa(i)), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

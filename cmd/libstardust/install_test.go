package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What "make install" lays down is enough to compile and run the guide's program,
// and to read about the command line.
func (l *library) testInstall(t *testing.T) {
	need(t, "make")
	need(t, "pkg-config")
	stage := t.TempDir()
	runIn(t, filepath.Join("..", ".."), []string{"MAKEFLAGS="}, "make", "install", "DESTDIR="+stage, "PREFIX=/opt/stardust")
	prefix := filepath.Join(stage, "opt", "stardust")
	config := func(flags ...string) []string {
		env := []string{"PKG_CONFIG_PATH=" + filepath.Join(prefix, "lib", "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR=" + stage}
		return strings.Fields(runIn(t, ".", env, "pkg-config", append(flags, "stardust")...))
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "c.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```c\n")
	source, _, _ := strings.Cut(rest, "```\n")
	file, program := filepath.Join(stage, "notes.c"), filepath.Join(stage, "notes")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, ".", "cc", append([]string{file, "-o", program}, config("--cflags", "--libs")...)...)
	libraries := "LD_LIBRARY_PATH=" + filepath.Join(prefix, "lib")
	if out := runIn(t, t.TempDir(), []string{libraries}, program); !strings.HasSuffix(out, "Buy milk\n") {
		t.Errorf("the installed library's program prints %q", out)
	}
	if out := run(t, ".", filepath.Join(prefix, "bin", "stardust"), "version"); !strings.HasPrefix(out, "stardust ") {
		t.Errorf("the installed program prints %q", out)
	}
	for _, name := range []string{
		"share/man/man1/stardust.1", "share/man/man1/stardust-import.1", "share/bash-completion/completions/stardust",
		"include/stardust.hpp", "lib/libstardust.a", "lib/libstardust.so",
	} {
		if info, err := os.Stat(filepath.Join(prefix, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

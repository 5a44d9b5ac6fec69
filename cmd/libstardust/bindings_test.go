package main_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The wrappers in bindings/, each of which runs the spec's examples and what it
// has besides.
func (l *library) testBindings(t *testing.T) {
	bindings := filepath.Join(l.source, "..", "..", "bindings")
	found := []string{"STARDUST_LIBRARY=" + l.path("libstardust.so.1")}
	t.Run("Python", func(t *testing.T) {
		need(t, "python3")
		compareExamples(t, runIn(t, ".", append(found, "PYTHONDONTWRITEBYTECODE=1"), "python3", filepath.Join(bindings, "python", "example.py"), workDir(t)))
	})
	t.Run("Node", func(t *testing.T) {
		need(t, "node")
		if _, err := os.Stat(filepath.Join(bindings, "node", "node_modules", "koffi")); err != nil {
			t.Skip("koffi is not installed: tools/install-test-deps.sh does it")
		}
		compareExamples(t, runIn(t, ".", found, "node", filepath.Join(bindings, "node", "example.js"), workDir(t)))
	})
	for _, compiler := range []string{"g++", "clang++"} {
		t.Run(compiler, func(t *testing.T) { l.testCPlusPlus(t, compiler, filepath.Join(bindings, "cpp")) })
	}
}

func (l *library) testCPlusPlus(t *testing.T, compiler, folder string) {
	l.needSanitizers(t, compiler)
	program := l.path("example-" + compiler)
	arguments := append(append(strict(), sanitizers()...), "-std=c++17", "-I", l.source, "-I", folder,
		filepath.Join(folder, "example.cpp"), "-o", program, "-L", l.dir, "-lstardust", "-Wl,-rpath,"+l.dir)
	run(t, ".", compiler, arguments...)
	compareExamples(t, run(t, ".", program, workDir(t)))
}

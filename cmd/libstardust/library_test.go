package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLibrary builds the library once and runs everything that is about it.
func TestLibrary(t *testing.T) {
	l := buildLibrary(t)
	t.Run("HeaderAndExportsAgree", l.testExports)
	t.Run("TheHeaderIsPlainC", l.testHeader)
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			t.Run("EveryExampleOfTheSpecPrintsWhatTheSpecSays", func(t *testing.T) { l.testExamples(t, compiler) })
			t.Run("BadInputIsRefused", func(t *testing.T) { l.testProgram(t, compiler, "badinput") })
			t.Run("EverythingBesidesPluginCalls", func(t *testing.T) { l.testProgram(t, compiler, "features") })
			t.Run("SixtyFourThreadsAndAClose", func(t *testing.T) { l.testProgram(t, compiler, "threads", "2000") })
			t.Run("WhatACallersMemoryHoldsDoesNoHarm", func(t *testing.T) { l.testGarbage(t, compiler) })
			t.Run("SanitizersFindNothing", func(t *testing.T) { l.testSanitizers(t, compiler) })
		})
	}
	t.Run("ValgrindFindsNothing", l.testValgrind)
	t.Run("TheProgramOfTheGuideDoesWhatThePageSays", l.testGuide)
	t.Run("TheArchiveWorksToo", l.testArchive)
	t.Run("BindingsRunEveryExample", l.testBindings)
	t.Run("MakeInstallIsEnough", l.testInstall)
	t.Run("ACallCostsLittleMoreThanInGo", l.testSpeed)
}

// Every function of the header is exported and no other is. That their types
// agree is seen by the compiler, which reads both when it builds the library.
func (l *library) testExports(t *testing.T) {
	need(t, "nm")
	header, err := os.ReadFile("stardust.h")
	if err != nil {
		t.Fatal(err)
	}
	var declared, exported []string
	for _, m := range regexp.MustCompile(`(?m)^[a-z][a-z0-9_ ]* \*?(stardust_\w+)\(`).FindAllStringSubmatch(string(header), -1) {
		declared = append(declared, m[1])
	}
	symbols := run(t, ".", "nm", "-D", "--defined-only", l.path("libstardust.so"))
	for _, m := range regexp.MustCompile(`(?m) T (stardust_\w+)$`).FindAllStringSubmatch(symbols, -1) {
		exported = append(exported, m[1])
	}
	slices.Sort(declared)
	slices.Sort(exported)
	if !slices.Equal(declared, exported) {
		t.Errorf("declared\n%s\nexported\n%s", strings.Join(declared, "\n"), strings.Join(exported, "\n"))
	}
	for _, name := range []string{"db_plugin_call", "db_plugin_stream_open", "result_take_document", "result_error", "result_release"} {
		if !slices.Contains(exported, "stardust_"+name) {
			t.Errorf("stardust_%s, which the spec names, is not exported", name)
		}
	}
}

// The header compiles by itself as C of 1999 and as C++, without a word.
func (l *library) testHeader(t *testing.T) {
	for _, c := range []struct{ compiler, language, standard string }{
		{"gcc", "c", "c99"}, {"gcc", "c", "c17"}, {"clang", "c", "c99"}, {"g++", "c++", "c++11"}, {"clang++", "c++", "c++20"},
	} {
		t.Run(c.compiler+" "+c.standard, func(t *testing.T) {
			need(t, c.compiler)
			run(t, ".", c.compiler, append(strict(), "-std="+c.standard, "-x", c.language, "-fsyntax-only", "stardust.h")...)
		})
	}
}

func (l *library) testExamples(t *testing.T, compiler string) {
	compareExamples(t, run(t, ".", l.compile(t, compiler, "examples"), t.TempDir()))
}

// compareExamples compares what a program printed with the spec's results.
func compareExamples(t *testing.T, got string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", "spec.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func (l *library) testProgram(t *testing.T, compiler, name string, arguments ...string) {
	run(t, ".", l.compile(t, compiler, name), append([]string{workDir(t)}, arguments...)...)
}

// Go's garbage collector, kept busy, never meets what C has in its memory.
func (l *library) testGarbage(t *testing.T, compiler string) {
	runIn(t, ".", []string{"GOGC=1"}, l.compile(t, compiler, "garbage"), workDir(t), "300")
}

// The static library has the same functions.
func (l *library) testArchive(t *testing.T) {
	archive := l.path("libstardust.a")
	run(t, ".", "go", "build", "-buildmode=c-archive", "-o", archive, ".")
	program := l.path("examples-static")
	run(t, ".", "cc", append(strict(), "-std=c11", "-I", ".", "testdata/examples.c", archive, "-lpthread", "-o", program)...)
	compareExamples(t, run(t, ".", program, t.TempDir()))
}

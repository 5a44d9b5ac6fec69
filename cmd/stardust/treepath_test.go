package main

import (
	"slices"
	"strings"
	"testing"
)

func TestCleanPathStaysInTheRoot(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/": "", ".": "", "..": "", "//": "", "/..": "", "../../a": "a",
		"a": "a", "/a/": "a", "a//b": "a/b", "./a/./b": "a/b", "a/../b": "b", "a/../..": "",
		"/ a ": " a ", "..a": "..a", `..\a`: `..\a`,
	} {
		if got := cleanPath(path); got != want {
			t.Errorf("cleanPath(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestSplitPathAndJoinAreInverse(t *testing.T) {
	for path, want := range map[string][2]string{
		"": {"", ""}, "a": {"", "a"}, "a/b": {"a", "b"}, "a/b/c": {"a/b", "c"},
	} {
		directory, name := splitPath(path)
		if directory != want[0] || name != want[1] {
			t.Errorf("splitPath(%q) = %q, %q", path, directory, name)
		}
		if got := join(directory, name); got != path {
			t.Errorf("join(%q, %q) = %q", directory, name, got)
		}
	}
}

// Paths are ordered name by name: a directory's content follows it at once, also
// where another name continues with a byte below the slash.
func TestComparePathsOrdersAsAWalkDoes(t *testing.T) {
	walk := []string{"", "a", "a/b", "a/b/c", "a/b!", "a!", "a!/x", "a-b", "ab", "b"}
	for i, first := range walk {
		for j, second := range walk {
			got := comparePaths(first, second)
			if got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("comparePaths(%q, %q) = %d", first, second, got)
			}
		}
	}
	byNames := slices.Clone(walk)
	slices.SortFunc(byNames, func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	if !slices.Equal(byNames, walk) {
		t.Errorf("the walk is not in the order of names: %q", byNames)
	}
}

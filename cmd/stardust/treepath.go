package main

import (
	"cmp"
	"path"
	"strings"

	"github.com/stardustdb/stardust"
)

// cleanPath returns a path of the tree without leading, trailing and doubled
// slashes; the root's is empty. Since no name can be "." or "..", these mean
// what they do in a shell, but never lead out of the root.
func cleanPath(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") }

// absolute returns a path of the tree as people and JSON see it: "/a/b".
func absolute(p string) string { return "/" + p }

// join returns the path of a name, or of a relative path, beneath a directory.
func join(directory, name string) string {
	if directory == "" || name == "" {
		return directory + name
	}
	return directory + "/" + name
}

// splitPath returns the directory and the last name of a clean path.
func splitPath(p string) (directory, name string) {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)], p[i+1:]
}

func isDirectory(r stardust.Record) bool { return r.Kind == stardust.KindDirectory }

// directoryAt returns the record of a directory.
func (s *session) directoryAt(p string) (stardust.Record, error) {
	r, err := s.tree.Resolve(p)
	if err == nil && !isDirectory(r) {
		err = about(absolute(p), errNotDirectory)
	}
	return r, err
}

// comparePaths orders paths as a walk does: by names, not by bytes, so that what
// is in a directory follows it at once.
func comparePaths(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' {
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

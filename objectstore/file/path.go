package file

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// folderFile is the file that holds the object of a path that ends in "/", in the
// directory that the path names. No object can have its name.
const folderFile = ".stardust-folder"

// fileName returns the name of an object's file.
func fileName(path objectstore.Path) string {
	if strings.HasSuffix(string(path), "/") {
		return string(path) + folderFile
	}
	return string(path)
}

// maxSegment is the longest file name that common file systems hold, in bytes.
const maxSegment = 255

// checkPath returns ErrInvalidPath for a path that no file can have here.
func checkPath(path objectstore.Path) error {
	// Of the paths with an empty segment those that end in one "/" can be.
	plain := strings.TrimSuffix(string(path), "/")
	if _, err := objectstore.ParsePath(plain); err != nil {
		return err
	}
	first := true
	for segment := range strings.SplitSeq(plain, "/") {
		switch {
		case len(segment) > maxSegment:
			return fmt.Errorf("%w: a segment has %d bytes, more than a file name's %d", objectstore.ErrInvalidPath, len(segment), maxSegment)
		case first && isReserved(segment):
			return fmt.Errorf("%w: %s is reserved", objectstore.ErrInvalidPath, Folder)
		case strings.EqualFold(segment, folderFile):
			return fmt.Errorf("%w: %s is reserved", objectstore.ErrInvalidPath, folderFile)
		}
		first = false
	}
	if runtime.GOOS == "windows" && (strings.ContainsAny(string(path), `<>:"|?*\`) || !filepath.IsLocal(string(path))) {
		return fmt.Errorf("%w: Windows cannot hold %q", objectstore.ErrInvalidPath, path)
	}
	return nil
}

// isReserved reports whether a name in the root is that of the reserved folder,
// also on a file system that does not tell cases apart.
func isReserved(name string) bool { return strings.EqualFold(name, Folder) }

package file

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// maxSegment is the longest file name that common file systems hold, in bytes.
const maxSegment = 255

// checkPath returns ErrInvalidPath for a path that no file can have here.
func checkPath(path objectstore.Path) error {
	if _, err := objectstore.ParsePath(string(path)); err != nil {
		return err
	}
	first := true
	for segment := range strings.SplitSeq(string(path), "/") {
		switch {
		case len(segment) > maxSegment:
			return fmt.Errorf("%w: a segment has %d bytes, more than a file name's %d", objectstore.ErrInvalidPath, len(segment), maxSegment)
		case first && isReserved(segment):
			return fmt.Errorf("%w: %s is reserved", objectstore.ErrInvalidPath, Folder)
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

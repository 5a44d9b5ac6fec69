package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOperationsHaveOneName holds objectstore/op.go's names: logs, metrics and
// errors of one call would disagree where a package wrote its own.
func TestOperationsHaveOneName(t *testing.T) {
	literal := regexp.MustCompile(`(Error\{Op: |\.fail\(|\.enter\(|\bop = )"(get|head|put|delete|list|copy|rename|create|upload|complete|abort|open|tags|versions)\b`)
	checked := 0
	for _, top := range []string{"objectstore", "mirror", "slatedb", "bucketdb", "gateway/dbstore"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(filepath.ToSlash(path), "/vfs/") { // a file system's own operations
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			checked++
			if found := literal.Find(text); found != nil {
				t.Errorf("%s: %s…: use a constant of objectstore/op.go", path, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 50 {
		t.Errorf("only %d files were looked at", checked)
	}
}

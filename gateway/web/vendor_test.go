package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What the page brings of others is what npm has, byte for byte, in the version that
// e2e/page/package.json pins.
func TestVendoredFilesAreThoseOfNpm(t *testing.T) {
	modules := filepath.Join("..", "..", "e2e", "page", "node_modules", "@highlightjs", "cdn-assets")
	if _, err := os.Stat(modules); err != nil {
		t.Skipf("%v (make deps, with npm)", err)
	}
	for name, from := range map[string]string{
		"highlight.js":      filepath.Join("es", "highlight.min.js"),
		"highlight.LICENSE": "LICENSE",
	} {
		ours, err := os.ReadFile(filepath.Join("static", "vendor", name))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(modules, from))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ours, theirs) {
			t.Errorf("%s is another: copy %s over it", name, from)
		}
	}
}

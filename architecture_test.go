package stardust_test

import (
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestArchitectureNamesEveryPackage compares the table of docs/architecture.md with
// the packages that there are: each is named by its path or its last part, but for
// those that are a part of one package alone.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	const module = "github.com/stardustdb/stardust"
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) bool {
		return strings.Contains(string(page), "`"+name+"`")
	}
	for p := range strings.FieldsSeq(string(out)) {
		folder := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
		top, _, _ := strings.Cut(folder, "/")
		if folder != "" && !named(folder) && !named(path.Base(folder)) &&
			!(named(top) && (top == "e2e" || top == "tools" || top == "examples")) && !strings.Contains(folder, "/internal/") {
			t.Errorf("%s is not in docs/architecture.md", folder)
		}
	}
}

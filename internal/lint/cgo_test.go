package lint

import (
	"os/exec"
	"strings"
	"testing"
)

// TestOnlyTheCLibraryNeedsACompiler: everything else is plain Go, so that it
// builds for every platform on any machine.
func TestOnlyTheCLibraryNeedsACompiler(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", module+"/...")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(string(out)), module+"/cmd/libstardust"; got != want {
		t.Errorf("packages with cgo: %q, want %q alone", got, want)
	}
}

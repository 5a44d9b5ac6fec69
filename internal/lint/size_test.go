package lint

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestTheProgramLinksNoTemplates: html/template, and text/template beneath it,
// call methods by names that the linker can't know, so it keeps every exported
// method of every type: 9 MB. The generator of man pages is for builds alone.
// cobra imports text/template, but reaches it only in a program that sets a
// template of its own.
func TestTheProgramLinksNoTemplates(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/stardust").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	for _, banned := range []string{"html/template", "github.com/spf13/cobra/doc", "github.com/cpuguy83/go-md2man/v2/md2man", "net/http/pprof"} {
		if slices.Contains(deps, banned) {
			t.Errorf("cmd/stardust links %s", banned)
		}
	}
	if len(deps) < 100 {
		t.Errorf("only %d packages were looked at", len(deps))
	}
}

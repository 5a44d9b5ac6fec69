package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/stardustdb/stardust"

// rule says what the packages under a folder may not import, be it directly or
// through others.
type rule struct {
	folder string // relative to the module; "" is the root package alone
	banned []string
	why    string
}

var rules = []rule{
	{"", []string{module + "/objectstore", module + "/mirror", module + "/slatedb", module + "/gateway", "net/http", "github.com/aws/"}, "the database knows no store, no SDK and no HTTP"},
	{"internal/catalog", []string{module + "/internal/heap", module + "/internal/container", "net/http"}, "the catalog knows SQLite only"},
	{"internal/tree", []string{module + "/internal/commit", module + "/internal/payload", module + "/internal/heap", module + "/internal/container", "net/http"}, "the tree's rules read the catalog alone"},
	{"internal/commit", []string{module + "/internal/payload", module + "/internal/transfer", module + "/internal/heap", module + "/internal/container", "net/http"}, "commits write the catalog and know no bytes of payloads"},
	{"internal/heap", []string{module + "/internal/catalog", "net/http"}, "the heap lies beneath the catalog"},
	{"internal/btree", []string{module + "/", "net/http"}, "pages of SQLite's are a format and depend on nothing of ours"},
	{"internal/salvage", []string{module + "/internal/payload", module + "/internal/commit", module + "/internal/transfer", "net/http"}, "what is left of a file is read without what keeps a whole one"},
	{"internal/payload", []string{module + "/internal/dust", "net/http"}, "the payload engine lies between the catalog, the heap and the API"},
	{"internal/transfer", []string{module + "/internal/catalog", module + "/internal/payload", module + "/internal/heap", module + "/internal/container", module + "/internal/commit", module + "/objectstore", "net/http"}, "transfers know the database by the interfaces that it gives them"},
	{"internal/replica", []string{module + "/objectstore", "net/http"}, "rows know no store"},
	{"internal/batch", []string{module + "/objectstore", "net/http"}, "the bucket's bytes know no store"},
	{"bucketdb", []string{module + "/gateway", module + "/slatedb", "github.com/aws/"}, "the database in a bucket knows stores by their interface"},
	{"internal/dust", []string{module + "/", "net/http"}, "DUST is a format and depends on nothing of ours"},
	{"internal/digest", []string{module + "/", "net/http"}, "a digest depends on nothing of ours"},
	{"internal/chunk", []string{module + "/", "net/http"}, "chunking depends on nothing of ours"},
	{"objectstore", []string{module + "/mirror", module + "/slatedb", module + "/gateway", module + "/internal/catalog", module + "/internal/container"}, "stores lie beneath the mirror, and beside the database"},
	{"mirror", []string{module + "/slatedb", module + "/gateway", "github.com/aws/"}, "the mirror knows neither SlateDB nor clouds"},
	{"mirror/internal/local", []string{module + "/slatedb", module + "/gateway", "github.com/aws/", "net/http"}, "the directory of local copies knows no remote"},
	{"gateway/s3/internal/auth", []string{module + "/objectstore", module + "/internal/"}, "signatures and bodies are checked without a store"},
	{"gateway/s3/internal/checksum", []string{module + "/objectstore", module + "/internal/"}, "checksums know no store"},
	{"gateway/s3/s3err", []string{module + "/"}, "the table of S3's errors depends on nothing of ours"},
	{"slatedb", []string{module + "/gateway", "github.com/aws/", "net/http"}, "the policy knows neither HTTP nor clouds"},
}

// importsRoot reports whether the packages of a folder may import the root
// package, as what is built on the database does.
func importsRoot(folder string) bool {
	return strings.HasPrefix(folder, "cmd/") || strings.HasPrefix(folder, "gateway") ||
		strings.HasPrefix(folder, "bench") || strings.HasPrefix(folder, "examples/") || strings.HasPrefix(folder, "bucketdb") || folder == "client" || folder == ""
}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// TestDependencyArrowsPointDown holds the layout of docs/architecture.md.
func TestDependencyArrowsPointDown(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...")
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &problems)
	}
	seen := 0
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; seen++ {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		checkArrows(t, &p)
	}
	if seen < 10 {
		t.Fatalf("go list named %d packages, so nothing was checked", seen)
	}
}

func checkArrows(t *testing.T, p *listed) {
	folder := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
	for _, dep := range p.Imports {
		if dep == module && !importsRoot(folder) {
			t.Errorf("%s imports the root package: only commands, examples, gateways, clients and bucketdb may", p.ImportPath)
		}
	}
	for _, r := range rules {
		if !applies(r.folder, folder) {
			continue
		}
		for _, dep := range p.Deps {
			for _, banned := range r.banned {
				if dep == strings.TrimSuffix(banned, "/") && dep != module || strings.HasPrefix(dep, banned) && !own(dep, folder) {
					t.Errorf("%s depends on %s: %s", p.ImportPath, dep, r.why)
				}
			}
		}
	}
}

// applies reports whether a rule is about a folder. Drivers and test helpers
// under objectstore may use SDKs and HTTP.
func applies(rule, folder string) bool {
	if rule == "" {
		return folder == ""
	}
	return folder == rule || strings.HasPrefix(folder, rule+"/")
}

// own reports whether a dependency lies in the folder's own subtree.
func own(dep, folder string) bool {
	top, _, _ := strings.Cut(folder, "/")
	if top == "internal" {
		top = folder
	}
	return strings.HasPrefix(dep, module+"/"+top)
}

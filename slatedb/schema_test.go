package slatedb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/need"
	"github.com/stardustdb/stardust/slatedb/internal/fbverify"
)

var schemaFiles = []string{"common.fbs", "sst.fbs", "manifest.fbs", "compactions.fbs"}

// A field as the schema files have it.
type schemaField struct {
	name, kind string
	required   bool
}

// parseSchemas reads the tables of the schema files: name, then field by id.
func parseSchemas(t *testing.T) map[string]map[int]schemaField {
	t.Helper()
	table := regexp.MustCompile(`(?s)table (\w+) \{(.*?)\n\}`)
	field := regexp.MustCompile(`(\w+): ([^ ]+)(?: = null)? \(id: (\d+)([^)]*)\);`)
	tables := map[string]map[int]schemaField{}
	for _, file := range schemaFiles {
		text, err := os.ReadFile(filepath.Join("schema", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range table.FindAllStringSubmatch(string(text), -1) {
			fields := map[int]schemaField{}
			for _, f := range field.FindAllStringSubmatch(found[2], -1) {
				id, err := strconv.Atoi(f[3])
				if err != nil {
					t.Fatal(err)
				}
				fields[id] = schemaField{f[1], f[2], strings.Contains(f[4], "required")}
			}
			tables[found[1]] = fields
		}
	}
	return tables
}

// The verifier vouches for what the generated accessors read only if it checks
// the same fields at the same places.
func TestTheVerifiersDescriptionIsTheSchema(t *testing.T) {
	tables := parseSchemas(t)
	seen := map[string]bool{}
	var check func(d *fbverify.Table, name string)
	check = func(d *fbverify.Table, name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		fields, ok := tables[name]
		if !ok {
			t.Errorf("no table %s in the schema", name)
			return
		}
		described := map[int]bool{}
		for _, f := range d.Fields {
			described[f.ID] = true
			s, ok := fields[f.ID]
			if !ok && strings.HasSuffix(f.Name, "_type") {
				continue // a union's type, which the schema leaves implicit
			}
			if !ok || s.name != f.Name || s.required != f.Required {
				t.Errorf("%s field %d is %s, required %v; in the schema %+v", name, f.ID, f.Name, f.Required, s)
				continue
			}
			checkKind(t, name, f, s, check)
		}
		for id, s := range fields {
			if !described[id] {
				t.Errorf("%s field %d, %s, is not described", name, id, s.name)
			}
		}
	}
	s := newSchema()
	check(s.manifestV1, "ManifestV1")
	check(s.manifestV2, "ManifestV2")
	check(s.compactions, "CompactionsV1")
	for name := range tables {
		if !seen[name] && name != "Uuid" && name != "Ulid" { // both described as Id
			t.Errorf("table %s is not described", name)
		}
	}
}

func checkKind(t *testing.T, table string, f fbverify.Field, s schemaField, check func(*fbverify.Table, string)) {
	t.Helper()
	sizes := map[string]int{
		"ulong": 8, "long": 8, "uint": 4, "ushort": 2, "byte": 1, "ubyte": 1, "bool": 1,
		"BoundType": 1, "CompressionFormat": 1, "SstType": 1, "CompactionStatus": 1,
	}
	unions := map[string][]string{
		"CheckpointMetadata": {"WriterCheckpoint"},
		"CompactionContext":  {"TieredCompactionContext"},
		"CompactionSpec":     {"TieredCompactionSpec", "DrainSegmentSpec"},
	}
	element, isVector := strings.CutPrefix(strings.TrimSuffix(s.kind, "]"), "[")
	_, isNumber := sizes[element]
	good := false
	switch {
	case s.kind == "string":
		good = f.Kind == fbverify.String
	case isVector && isNumber:
		good = f.Kind == fbverify.Scalars && f.Size == sizes[element]
	case isVector:
		good = f.Kind == fbverify.Children
	case isNumber:
		good = f.Kind == fbverify.Scalar && f.Size == sizes[element]
	case unions[element] != nil:
		good = f.Kind == fbverify.OneOf && len(f.Types) == len(unions[element])
		for i, name := range unions[element] {
			check(f.Types[byte(i+1)], name)
		}
	default:
		good = f.Kind == fbverify.Child
	}
	if !good {
		t.Errorf("%s.%s is described as %+v; in the schema it is %s", table, f.Name, f, s.kind)
	}
	if f.Table != nil && element != "Uuid" && element != "Ulid" {
		check(f.Table, element)
	}
}

// The generated code is what the pinned compiler makes of the schema.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	flatc := need.Program(t, need.Flatc)
	dir := t.TempDir()
	args := []string{"--go", "-o", dir}
	for _, file := range schemaFiles {
		args = append(args, filepath.Join("schema", file))
	}
	if out, err := exec.Command(flatc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, got := readDir(t, filepath.Join(dir, "fb")), readDir(t, filepath.Join("internal", "fb"))
	if !slices.Equal(want, got) {
		t.Error("internal/fb is not what the schema generates: run go generate ./slatedb")
	}
}

// readDir returns the names and contents of the files of a folder.
func readDir(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fmt.Sprintf("%s\n%s", entry.Name(), data))
	}
	return files
}

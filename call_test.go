package stardust_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// TestCallRunsEveryOperationByName makes each operation by its name, with its
// parameters in lowerCamelCase, and compares with the typed method.
func TestCallRunsEveryOperationByName(t *testing.T) {
	f := newFixture(t)
	d, other := f.digest.String(), f.other.String()
	for _, c := range []struct{ operation, request, want string }{
		{"get", `{entity 2}`, must(f.objects.Get(2)).String()},
		{"lookup", `{parent 1 name inner.txt}`, must(f.objects.Lookup(1, "inner.txt")).String()},
		{"lookup", `{parent 0 name dir}`, must(f.objects.Lookup(0, "dir")).String()},
		{"children", `{parent 1}`, must(f.objects.Children(1)).String()},
		{"children", `{parent 0}`, must(f.objects.Children(0)).String()},
		{"path", `{entity 3}`, must(f.objects.Path(3)).String()},
		{"files", `{digest "` + strings.ToUpper(d) + `"}`, must(f.objects.Files(d)).String()},
		{"manifest", `{digest {#sha256 ` + d + `}}`, must(f.objects.Manifest(d)).String()},
		{"create", `{nodes [{name x}]}`, `[{entity 6 parent 0 revision 7 name x kind directory}]`},
		{"create", `[{name y}]`, `[{entity 8 parent 0 revision 9 name y kind directory}]`},
		{
			"update", `{entity 2 digest ` + other + ` expectedRevision 5}`,
			`{entity 2 parent 0 revision 10 name file.txt kind file size 3 digest {#sha256 ` + quoteIfNumber(other) + `}}`,
		},
		{
			"move", `{entity 6 parent 1 name z expectedRevision 7 replace false}`,
			`{entity 6 parent 1 revision 11 name z kind directory}`,
		},
		{"remove", `{entity 6 expectedRevision 11}`, `null`},
	} {
		got, err := f.db.Call(stardust.PluginObjects, c.operation, parse(t, c.request))
		if err != nil {
			t.Errorf("%s %s: %v", c.operation, c.request, err)
			continue
		}
		if want := parse(t, c.want).String(); got.String() != want {
			t.Errorf("%s %s is\n%s\nwant\n%s", c.operation, c.request, got, want)
		}
	}
}

// quoteIfNumber quotes a digest that DUST might take for a number.
func quoteIfNumber(s string) string { return `"` + s + `"` }

func TestStreamOpensStreamsByName(t *testing.T) {
	db := openFast(t, withObjects())
	for _, request := range []*stardust.Document{nil, parse(t, `{}`)} {
		upload, err := db.Stream(stardust.PluginObjects, "upload", request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Write([]byte("Hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Finish(); err != nil {
			t.Fatal(err)
		}
		upload.Close()
	}
	reader, err := db.Stream(stardust.PluginObjects, "open", parse(t, fmt.Sprintf(`{digest %q}`, digestOf([]byte("Hello")))))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got, err := io.ReadAll(reader); err != nil || string(got) != "Hello" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestMalformedCallsNameTheMember checks that each malformed request is refused
// with a message that says where it is wrong, and writes nothing.
func TestMalformedCallsNameTheMember(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ plugin, operation, request, names string }{
		{"tables", "get", `{entity 1}`, "tables"},
		{"objects", "drop", `{entity 1}`, "drop"},
		{"objects", "upload", `{}`, "\"upload\" opens a stream"},
		{"objects", "open", `{}`, "\"open\" opens a stream"},
		{"objects", "get", `[1]`, "array"},
		{"objects", "get", `{}`, "entity"},
		{"objects", "get", `{entity "1"}`, "entity"},
		{"objects", "get", `{entity 1.5}`, "entity"},
		{"objects", "get", `{entity 9223372036854775808}`, "entity"},
		{"objects", "get", `{entity 1 at 5}`, "at"},
		{"objects", "lookup", `{parent 0}`, "name"},
		{"objects", "lookup", `{parent x name y}`, "parent"},
		{"objects", "lookup", `{parent 0 name 12}`, "name: the number 12"},
		{"objects", "files", `{digest xyz}`, "digest"},
		{"objects", "manifest", `{digest {#md5 00}}`, "digest"},
		{"objects", "manifest", `{digest {#sha256 ` + unknown + ` size 1}}`, "digest"},
		{"objects", "create", `{nodes {}}`, "nodes"},
		{"objects", "create", `{nodes [] extra 1}`, "extra"},
		{"objects", "create", `{nodes [{name a} {name b parent "0"}]}`, "nodes[1].parent"},
		{"objects", "create", `{nodes [{name a} {name b digest 1}]}`, "nodes[1].digest"},
		{"objects", "create", `{}`, "nodes"},
		{"objects", "update", `{entity 2 expectedRevision 0}`, "digest"},
		{"objects", "update", `{entity 2 digest ` + unknown + `}`, "expectedRevision: missing"},
		{"objects", "move", `{entity 2 parent 0 name x expectedRevision 0}`, "replace: missing"},
		{"objects", "move", `{entity 2 parent 0 name x replace false}`, "expectedRevision: missing"},
		{"objects", "remove", `{entity 2}`, "expectedRevision: missing"},
		{"objects", "children", `{}`, "parent: missing"},
		{"objects", "lookup", `{name x}`, "parent: missing"},
		{"objects", "create", `{nodes [{name 5}]}`, "nodes[0].name: the number 5, want a string"},
		{"objects", "update", `{entity 2 digest ` + unknown[:63] + `}`, "digest"},
		{"objects", "update", `{entity 2 digest "` + unknown + `" expected_revision 5}`, "expected_revision"},
		{"objects", "move", `{entity 2 name x}`, "parent"},
		{"objects", "move", `{entity 2 parent 0 name x expectedRevision 0 replace 1}`, "replace"},
		{"objects", "remove", `{entity 2 expectedRevision true}`, "expectedRevision"},
	} {
		_, err := f.db.Call(c.plugin, c.operation, parse(t, c.request))
		if !errors.Is(err, stardust.StatusInvalidArgument) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s.%s %s: %v, want invalid_argument that names %s", c.plugin, c.operation, c.request, err, c.names)
		}
	}
	for _, c := range []struct{ plugin, operation, request, names string }{
		{"tables", "upload", `{}`, "tables"},
		{"objects", "get", `{entity 1}`, "get"},
		{"objects", "upload", `{size 5}`, "size"},
		{"objects", "open", `{}`, "digest"},
		{"objects", "open", `{digest 5}`, "digest"},
		{"objects", "open", `[]`, "array"},
	} {
		_, err := f.db.Stream(c.plugin, c.operation, parse(t, c.request))
		if !errors.Is(err, stardust.StatusInvalidArgument) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("stream %s.%s %s: %v, want invalid_argument that names %s", c.plugin, c.operation, c.request, err, c.names)
		}
	}
	closed := parse(t, `{entity 1}`)
	closed.Close()
	for _, request := range []*stardust.Document{nil, closed} {
		if _, err := f.db.Call("objects", "get", request); !errors.Is(err, stardust.StatusClosed) {
			t.Errorf("a closed request: %v", err)
		}
	}
	if next := create(t, f.db, `[{name next}]`)[0]; next.Entity != 6 {
		t.Errorf("a refused call took an id: the next entity is %d", next.Entity)
	}
}

func TestParseOptionsTakesTheOptionsOfTheSpec(t *testing.T) {
	got, err := stardust.ParseOptions(parse(t, `plugins {objects {}} memoryBudget 1000 readOnly true mustExist true lockTimeout 1500`))
	if err != nil || got.Plugins.Objects == nil || got.MemoryBudget != 1000 || !got.ReadOnly || !got.MustExist || got.LockTimeout != 1500*time.Millisecond {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{`{}`, `plugins {}`} {
		if got, err := stardust.ParseOptions(parse(t, text)); err != nil || got.Plugins.Objects != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, names := range map[string]string{
		`[]`:                                 "array",
		`plugin {objects {}}`:                "plugin",
		`plugins {tables {}}`:                "tables",
		`plugins {objects {cache 1}}`:        "cache",
		`plugins [objects]`:                  "plugins",
		`plugins {objects true}`:             "objects",
		`memoryBudget -1`:                    "memoryBudget",
		`memoryBudget many`:                  "memoryBudget",
		`readOnly 1`:                         "readOnly",
		`mustExist yes`:                      "mustExist",
		`lockTimeout -5`:                     "lockTimeout",
		`lockTimeout 999999999999`:           "lockTimeout",
		`plugins {objects {}} logger stdout`: "logger",
	} {
		if _, err := stardust.ParseOptions(parse(t, text)); !errors.Is(err, stardust.StatusInvalidArgument) || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: %v, want invalid_argument that names %s", text, err, names)
		}
	}
	if _, err := stardust.ParseOptions(nil); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("no document: %v", err)
	}
}

// TestUnavailableAndClosedComeFirst makes every operation with arguments that
// make no sense, in each of its forms: a database without the plugin, one that
// is closed, and, for writes, one that is read-only say so before they say
// anything of the arguments.
func TestUnavailableAndClosedComeFirst(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	openAt(t, path, withObjects()).Close()
	without := openAt(t, path, nil)
	defer without.Close()
	closed := openFast(t, withObjects())
	closed.Close()
	unfit := parse(t, `{nonsense 1}`)
	bad := func(db *stardust.DB) (reads, writes map[string]error) {
		o, tree := db.Objects(), db.Tree()
		first := func(_ any, err error) error { return err }
		var children error
		for _, err := range tree.Children(-1) {
			children = err
		}
		reads = map[string]error{
			"get": first(o.Get(0)), "lookup": first(o.Lookup(0, "")), "children": first(o.Children(-1)),
			"path": first(o.Path(-1)), "files": first(o.Files("x")), "manifest": first(o.Manifest("x")),
			"open": first(o.Open("x")), "history": first(o.History(0)),
			"Tree.Get": first(tree.Get(0)), "Tree.Lookup": first(tree.Lookup(-1, "/")), "Tree.Children": children,
			"Tree.Path": first(tree.Path(-1)), "Tree.History": first(tree.History(0)), "Tree.Resolve": first(tree.Resolve("..")),
			"stream open": first(db.Stream("objects", "open", unfit)),
		}
		writes = map[string]error{
			"create": first(o.Create(parse(t, `5`))), "update": first(o.Update(0, "x", -1)),
			"move": first(o.Move(0, -1, "/", -1, false)), "remove": o.Remove(0, -1), "upload": first(o.Upload()),
			"Tree.Create": first(tree.Create()), "Tree.Update": first(tree.Update(0, stardust.Digest{}, -1)),
			"Tree.Move": first(tree.Move(0, -1, "/", -1, false)), "Tree.Remove": tree.Remove(0, -1),
			"Tree.Put": first(tree.Put("/", nil, nil)), "stream upload": first(db.Stream("objects", "upload", unfit)),
		}
		for _, operation := range []string{"get", "lookup", "children", "path", "files", "manifest", "none"} {
			reads["call "+operation] = first(db.Call("objects", operation, unfit))
		}
		for _, operation := range []string{"create", "update", "move", "remove"} {
			writes["call "+operation] = first(db.Call("objects", operation, unfit))
		}
		reads["call of no plugin"] = first(db.Call("tables", "get", unfit))
		return reads, writes
	}
	check := func(what string, errs map[string]error, want stardust.Status) {
		for name, err := range errs {
			if !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", what, name, err, want)
			}
		}
	}
	reads, writes := bad(without)
	check("without the plugin", reads, stardust.StatusUnavailable)
	check("without the plugin", writes, stardust.StatusUnavailable)
	reads, writes = bad(closed)
	check("closed", reads, stardust.StatusClosed)
	check("closed", writes, stardust.StatusClosed)
	without.Close()
	options := withObjects()
	options.ReadOnly = true
	readOnly := openAt(t, path, options)
	defer readOnly.Close()
	_, writes = bad(readOnly)
	check("read-only", writes, stardust.StatusUnavailable)
}

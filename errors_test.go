package stardust_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// refusalCase is one row of an error table of the objects spec: a call on the
// tree of newFixture, and the status that it reports.
type refusalCase struct {
	name   string
	status stardust.Status
	call   func(f *fixture) error
}

// fixture is a small tree: dir (1) with file inner.txt (3) in it, file.txt (2)
// in the root, and empty (4), a directory.
type fixture struct {
	t                       *testing.T
	db                      *stardust.DB
	objects                 stardust.Objects
	digest, other           stardust.Digest
	dir, file, inner, empty int64
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, db: open(t)}
	f.objects = f.db.Objects()
	f.digest, f.other = upload(t, f.db, []byte("one")), upload(t, f.db, []byte("two"))
	records := create(t, f.db, `[{name dir} {name file.txt digest {#sha256 "`+f.digest.String()+`"}}
		{name inner.txt under 1 digest {#sha256 "`+f.digest.String()+`"}} {name empty}]`)
	f.dir, f.file, f.inner, f.empty = records[0].Entity, records[1].Entity, records[2].Entity, records[3].Entity
	return f
}

func (f *fixture) create(nodes string) error {
	_, err := tryCreate(f.t, f.db, nodes)
	return err
}

// unknown is the digest of no payload.
const unknown = "00000000000000000000000000000000000000000000000000000000000000ff"

func document(_ *stardust.Document, err error) error   { return err }
func stream(_ *stardust.PluginStream, err error) error { return err }
func (f *fixture) move(to int64, name string) error {
	return document(f.objects.Move(f.dir, to, name, 0, false))
}

func (f *fixture) update(entity int64, d string) error {
	return document(f.objects.Update(entity, d, 0))
}

func (f *fixture) replace(entity int64, name string) error {
	return document(f.objects.Move(entity, 0, name, 0, true))
}

func refusals() []refusalCase {
	const (
		bad      = stardust.StatusInvalidArgument
		missing  = stardust.StatusNotFound
		conflict = stardust.StatusConflict
	)
	nul, long := "a\x00b", strings.Repeat("n", stardust.MaxNameLength+1)
	return []refusalCase{
		{"get: the root is not a user entity", bad, func(f *fixture) error { return document(f.objects.Get(0)) }},
		{"get: negative entity", bad, func(f *fixture) error { return document(f.objects.Get(-1)) }},
		{"get: no node has the entity", missing, func(f *fixture) error { return document(f.objects.Get(999)) }},
		{"get: a transaction's id is no node", missing, func(f *fixture) error { return document(f.objects.Get(5)) }},

		{"lookup: negative parent", bad, func(f *fixture) error { return document(f.objects.Lookup(-1, "x")) }},
		{"lookup: empty name", bad, func(f *fixture) error { return document(f.objects.Lookup(0, "")) }},
		{"lookup: dot", bad, func(f *fixture) error { return document(f.objects.Lookup(0, ".")) }},
		{"lookup: dot dot", bad, func(f *fixture) error { return document(f.objects.Lookup(0, "..")) }},
		{"lookup: slash", bad, func(f *fixture) error { return document(f.objects.Lookup(0, "dir/inner.txt")) }},
		{"lookup: NUL", bad, func(f *fixture) error { return document(f.objects.Lookup(0, nul)) }},
		{"lookup: not UTF-8", bad, func(f *fixture) error { return document(f.objects.Lookup(0, "\xff")) }},
		{"lookup: name too long", bad, func(f *fixture) error { return document(f.objects.Lookup(0, long)) }},
		{"lookup: the parent is a file", bad, func(f *fixture) error { return document(f.objects.Lookup(f.file, "x")) }},
		{"lookup: no such child", missing, func(f *fixture) error { return document(f.objects.Lookup(0, "x")) }},
		{"lookup: no such parent", missing, func(f *fixture) error { return document(f.objects.Lookup(999, "x")) }},

		{"children: negative parent", bad, func(f *fixture) error { return document(f.objects.Children(-1)) }},
		{"children: the parent is a file", bad, func(f *fixture) error { return document(f.objects.Children(f.file)) }},
		{"children: no such parent", missing, func(f *fixture) error { return document(f.objects.Children(999)) }},

		{"path: negative entity", bad, func(f *fixture) error { return document(f.objects.Path(-1)) }},
		{"path: no such node", missing, func(f *fixture) error { return document(f.objects.Path(999)) }},

		{"files: short digest", bad, func(f *fixture) error { return document(f.objects.Files("ab")) }},
		{"files: not hexadecimal", bad, func(f *fixture) error { return document(f.objects.Files(strings.Repeat("g", 64))) }},

		{"manifest: malformed digest", bad, func(f *fixture) error { return document(f.objects.Manifest("")) }},
		{"manifest: not published", missing, func(f *fixture) error { return document(f.objects.Manifest(unknown)) }},

		{"create: empty array", bad, func(f *fixture) error { return f.create(`[]`) }},
		{"create: no array", bad, func(f *fixture) error { return f.create(`{name x}`) }},
		{"create: node is no object", bad, func(f *fixture) error { return f.create(`[1]`) }},
		{"create: no name", bad, func(f *fixture) error { return f.create(`[{parent 0}]`) }},
		{"create: name is no string", bad, func(f *fixture) error { return f.create(`[{name 1}]`) }},
		{"create: unknown member", bad, func(f *fixture) error { return f.create(`[{name x mode 7}]`) }},
		{"create: invalid name", bad, func(f *fixture) error { return f.create(`[{name ".."}]`) }},
		{"create: the parent is a file", bad, func(f *fixture) error { return f.create(`[{name x parent 2}]`) }},
		{"create: negative parent", bad, func(f *fixture) error { return f.create(`[{name x parent -1}]`) }},
		{"create: parent and under", bad, func(f *fixture) error { return f.create(`[{name x} {name y parent 0 under 1}]`) }},
		{"create: under itself", bad, func(f *fixture) error { return f.create(`[{name x under 1}]`) }},
		{"create: under a later node", bad, func(f *fixture) error { return f.create(`[{name x under 2} {name y}]`) }},
		{"create: under zero", bad, func(f *fixture) error { return f.create(`[{name x} {name y under 0}]`) }},
		{"create: under a file", bad, func(f *fixture) error {
			return f.create(`[{name x digest {#sha256 "` + f.digest.String() + `"}} {name y under 1}]`)
		}},
		{"create: malformed digest", bad, func(f *fixture) error { return f.create(`[{name x digest {#sha256 "12"}}]`) }},
		{"create: digest without its tag", bad, func(f *fixture) error { return f.create(`[{name x digest "` + unknown + `"}]`) }},
		{"create: no such parent", missing, func(f *fixture) error { return f.create(`[{name x parent 999}]`) }},
		{"create: parent of this very request by number", missing, func(f *fixture) error { return f.create(`[{name x} {name y parent 6}]`) }},
		{"create: digest not published", missing, func(f *fixture) error { return f.create(`[{name x digest {#sha256 "` + unknown + `"}}]`) }},
		{"create: name taken", conflict, func(f *fixture) error { return f.create(`[{name dir}]`) }},
		{"create: name twice", conflict, func(f *fixture) error { return f.create(`[{name x} {name x}]`) }},
		{"create: name twice under a new directory", conflict, func(f *fixture) error { return f.create(`[{name x} {name y under 1} {name y under 1}]`) }},

		{"update: a directory", bad, func(f *fixture) error { return f.update(f.dir, f.other.String()) }},
		{"update: a directory, of a stale revision", bad, func(f *fixture) error { return document(f.objects.Update(f.dir, f.other.String(), 999)) }},
		{"update: the root", bad, func(f *fixture) error { return f.update(0, f.other.String()) }},
		{"update: malformed digest", bad, func(f *fixture) error { return f.update(f.file, "xyz") }},
		{"update: negative revision", bad, func(f *fixture) error { return document(f.objects.Update(f.file, f.other.String(), -1)) }},
		{"update: no such file", missing, func(f *fixture) error { return f.update(999, f.other.String()) }},
		{"update: digest not published", missing, func(f *fixture) error { return f.update(f.file, unknown) }},
		{"update: stale revision", conflict, func(f *fixture) error { return document(f.objects.Update(f.file, f.other.String(), 1)) }},

		{"move: the root", bad, func(f *fixture) error { return document(f.objects.Move(0, f.dir, "x", 0, false)) }},
		{"move: invalid name", bad, func(f *fixture) error { return f.move(0, "a/b") }},
		{"move: negative parent", bad, func(f *fixture) error { return f.move(-1, "x") }},
		{"move: negative revision", bad, func(f *fixture) error { return document(f.objects.Move(f.dir, 0, "x", -1, false)) }},
		{"move: the destination is a file", bad, func(f *fixture) error { return f.move(f.file, "x") }},
		{"move: into itself", bad, func(f *fixture) error { return f.move(f.dir, "x") }},
		{"move: into its own subtree", bad, func(f *fixture) error {
			sub := create(f.t, f.db, `[{name sub parent 1}]`)[0]
			return f.move(sub.Entity, "x")
		}},
		{"move: a file onto a directory", bad, func(f *fixture) error { return f.replace(f.file, "empty") }},
		{"move: a directory onto a file", bad, func(f *fixture) error { return f.replace(f.empty, "file.txt") }},
		{"move: onto a directory that is not empty", bad, func(f *fixture) error { return f.replace(f.empty, "dir") }},
		{"move: no such node", missing, func(f *fixture) error { return document(f.objects.Move(999, 0, "x", 0, false)) }},
		{"move: no such destination", missing, func(f *fixture) error { return f.move(999, "x") }},
		{"move: name taken", conflict, func(f *fixture) error { return f.move(0, "empty") }},
		{"move: stale revision", conflict, func(f *fixture) error { return document(f.objects.Move(f.dir, 0, "x", 3, false)) }},

		{"remove: the root", bad, func(f *fixture) error { return f.objects.Remove(0, 0) }},
		{"remove: not empty", bad, func(f *fixture) error { return f.objects.Remove(f.dir, 0) }},
		{"remove: negative revision", bad, func(f *fixture) error { return f.objects.Remove(f.empty, -1) }},
		{"remove: no such node", missing, func(f *fixture) error { return f.objects.Remove(999, 0) }},
		{"remove: stale revision", conflict, func(f *fixture) error { return f.objects.Remove(f.empty, 1) }},

		{"open: malformed digest", bad, func(f *fixture) error { return stream(f.objects.Open("12")) }},
		{"open: not published", missing, func(f *fixture) error { return stream(f.objects.Open(unknown)) }},
		{"history: the root", bad, func(f *fixture) error { return document(f.objects.History(0)) }},
		{"history: never a node", missing, func(f *fixture) error { return document(f.objects.History(999)) }},
	}
}

func TestRefusedCallsReportTheirStatusAndChangeNothing(t *testing.T) {
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			err := c.call(f)
			if !errors.Is(err, c.status) {
				t.Fatalf("got %v, want %v", err, c.status)
			}
			var e *stardust.Error
			if !errors.As(err, &e) || e.Op == "" || e.Message == "" {
				t.Errorf("the error does not say which operation and what: %#v", err)
			}
			if len(err.Error()) > 600 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
			// The next commit takes the next ids: the refused one took none.
			if strings.Contains(c.name, "own subtree") {
				return
			}
			if next := create(t, f.db, `[{name next}]`)[0]; next.Entity != 6 || next.Revision != 7 {
				t.Errorf("after the refusal a new node is %d at revision %d, want 6 at 7", next.Entity, next.Revision)
			}
		})
	}
}

// everyCall makes every operation once.
func everyCall(f *fixture) map[string]func() error {
	o, d := f.objects, f.digest.String()
	nodes := parse(f.t, `[{name new}]`)
	return map[string]func() error{
		"get":      func() error { return document(o.Get(f.file)) },
		"lookup":   func() error { return document(o.Lookup(0, "dir")) },
		"children": func() error { return document(o.Children(0)) },
		"path":     func() error { return document(o.Path(f.inner)) },
		"files":    func() error { return document(o.Files(d)) },
		"manifest": func() error { return document(o.Manifest(d)) },
		"open":     func() error { return stream(o.Open(d)) },
		"history":  func() error { return document(o.History(f.file)) },
		"list": func() error {
			for _, err := range o.Tree().Children(0) {
				return err
			}
			return nil
		},
		"walk": func() error {
			for _, err := range o.Tree().Walk(0) {
				return err
			}
			return nil
		},
		"create": func() error { return document(o.Create(nodes)) },
		"update": func() error { return document(o.Update(f.file, d, 0)) },
		"move":   func() error { return document(o.Move(f.empty, 0, "moved", 0, false)) },
		"remove": func() error { return o.Remove(f.empty, 0) },
		"upload": func() error { return stream(o.Upload()) },
		"import": func() error {
			_, err := o.Tree().Import(context.Background(), o.Tree().FS(), 0, nil)
			return err
		},
		"export": func() error {
			_, err := o.Tree().Export(context.Background(), 0, f.t.TempDir(), nil)
			return err
		},
	}
}

func TestWithoutThePluginEveryOperationIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	openAt(t, path, withObjects()).Close()
	f := newFixture(t)
	f.db = openAt(t, path, nil)
	f.objects = f.db.Objects()
	for name, call := range everyCall(f) {
		if err := call(); !errors.Is(err, stardust.StatusUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAfterCloseEveryOperationIsClosed(t *testing.T) {
	f := newFixture(t)
	calls := everyCall(f)
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, stardust.StatusClosed) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := f.db.Close(); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("second close: %v", err)
	}
}

func TestWritesConflictWhileTheDatabaseHoldsThem(t *testing.T) {
	f := newFixture(t)
	half, err := f.objects.Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := half.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	release, err := f.db.HoldWrites(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	calls := everyCall(f)
	for _, name := range []string{"create", "update", "move", "remove", "upload", "import"} {
		if err := calls[name](); !errors.Is(err, stardust.StatusConflict) || codeOf(err) != stardust.CodeWritesHeld {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := half.Finish(); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("finish: %v", err)
	}
	for _, name := range []string{"get", "lookup", "children", "path", "files", "manifest", "open"} {
		if err := calls[name](); err != nil {
			t.Errorf("reading %s: %v", name, err)
		}
	}
	release()
	release()
	if _, err := half.Finish(); err != nil {
		t.Errorf("finish after the release: %v", err)
	}
	if err := calls["create"](); err != nil {
		t.Errorf("create after the release: %v", err)
	}
}

func TestSnapshotsAndReadOnlyDatabasesRefuseWrites(t *testing.T) {
	f := newFixture(t)
	snapshot, err := f.db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	f.objects = snapshot.Objects()
	calls := everyCall(f)
	for _, name := range []string{"create", "update", "move", "remove", "upload", "import"} {
		if err := calls[name](); !errors.Is(err, stardust.StatusUnavailable) || codeOf(err) != stardust.CodeReadOnly {
			t.Errorf("%s on a snapshot: %v", name, err)
		}
	}
}

func TestErrorsAnswerTheErrorsOfTheStandardLibrary(t *testing.T) {
	f := newFixture(t)
	if err := document(f.objects.Get(999)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not found: %v", err)
	}
	if err := f.create(`[{name dir}]`); !errors.Is(err, fs.ErrExist) {
		t.Errorf("name taken: %v", err)
	}
	if err := document(f.objects.Get(0)); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("invalid: %v", err)
	}
}

func TestUploadThatDoesNotFitReportsOutOfMemory(t *testing.T) {
	options := withObjects()
	options.MemoryBudget = 9 << 20
	db := openAt(t, filepath.Join(t.TempDir(), "db"), options)
	large := make([]byte, maxChunk)
	uploading := func() (*stardust.PluginStream, error) {
		stream, err := db.Objects().Upload()
		if err != nil {
			t.Fatal(err)
		}
		_, err = stream.Write(large)
		return stream, err
	}
	first, err := uploading()
	if err != nil {
		t.Fatal(err)
	}
	second, err := uploading()
	if err != nil {
		t.Fatal(err)
	}
	third, err := uploading()
	if !errors.Is(err, stardust.StatusOutOfMemory) {
		t.Errorf("third upload in a budget of two: %v", err)
	}
	first.Close()
	if _, err := third.Write(large[third.Size():]); err != nil {
		t.Errorf("after one closed: %v", err)
	}
	if _, err := second.Finish(); err != nil {
		t.Error(err)
	}
	fourth, err := db.Objects().Upload()
	if err != nil {
		t.Errorf("after one finished: %v", err)
	}
	third.Close()
	fourth.Close()
}

func TestTooManyNodesAreRefusedAndTheLimitIsNot(t *testing.T) {
	db := open(t)
	nodes := func(n int) string {
		var b strings.Builder
		b.WriteString("[")
		for i := range n {
			b.WriteString("{name n" + itoa(int64(i)) + "} ")
		}
		return b.String() + "]"
	}
	if _, err := tryCreate(t, db, nodes(stardust.MaxNodes+1)); !errors.Is(err, stardust.StatusInvalidArgument) {
		t.Errorf("4097 nodes: %v", err)
	}
	if made := create(t, db, nodes(stardust.MaxNodes)); len(made) != 4096 || made[0].Revision != 4097 {
		t.Errorf("%d nodes", len(made))
	}
}

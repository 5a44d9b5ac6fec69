package stardust_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// record decodes a record document.
func record(t *testing.T, document *stardust.Document, err error) (r stardust.Record) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer document.Close()
	if err := document.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

// wantStatus checks an error's status and code.
func wantStatus(t *testing.T, what string, err error, status stardust.Status, code string) {
	t.Helper()
	if !errors.Is(err, status) || codeOf(err) != code {
		t.Errorf("%s: %v, want %v (%s)", what, err, status, code)
	}
}

func TestARevisionThatWasReadRefusesAStaleWrite(t *testing.T) {
	f := newFixture(t)
	mine, err := f.objects.Tree().Get(f.file)
	if err != nil {
		t.Fatal(err)
	}
	theirs := record(t, must(f.objects.Update(f.file, f.other.String(), mine.Revision)), nil)
	if theirs.Revision <= mine.Revision || theirs.Digest != f.other {
		t.Errorf("%+v", theirs)
	}
	_, err = f.objects.Update(f.file, f.digest.String(), mine.Revision)
	wantStatus(t, "update", err, stardust.StatusConflict, stardust.CodeStaleRevision)
	_, err = f.objects.Move(f.file, 0, "x", mine.Revision, false)
	wantStatus(t, "move", err, stardust.StatusConflict, stardust.CodeStaleRevision)
	wantStatus(t, "remove", f.objects.Remove(f.file, mine.Revision), stardust.StatusConflict, stardust.CodeStaleRevision)
	_, err = f.db.Patch(f.file, parse(t, `{a 1}`), mine.Revision)
	wantStatus(t, "patch", err, stardust.StatusConflict, stardust.CodeStaleRevision)
	if now, err := f.objects.Tree().Get(f.file); err != nil || now != theirs {
		t.Errorf("refused writes changed the file to %+v, %v", now, err)
	}
	if err := f.objects.Remove(f.file, theirs.Revision); err != nil {
		t.Error(err)
	}
}

// must lets a call that returns a value and an error be an argument.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestWritesThatChangeNothingKeepTheRevision(t *testing.T) {
	f := newFixture(t)
	before, err := f.objects.Tree().Get(f.file)
	if err != nil {
		t.Fatal(err)
	}
	patch := parse(t, `{"stardust/object/digest" {#sha256 `+f.digest.String()+`} gone null}`)
	for what, call := range map[string]func() (*stardust.Document, error){
		"update to the current payload": func() (*stardust.Document, error) {
			return f.objects.Update(f.file, f.digest.String(), before.Revision)
		},
		"move to the current place":            func() (*stardust.Document, error) { return f.objects.Move(f.file, 0, "file.txt", 0, false) },
		"move to the current place, replacing": func() (*stardust.Document, error) { return f.objects.Move(f.file, 0, "file.txt", 0, true) },
		"patch with what there is and is not":  func() (*stardust.Document, error) { return f.db.Patch(f.file, patch, 0) },
		"patch with nothing":                   func() (*stardust.Document, error) { return f.db.Patch(f.file, parse(t, `{}`), before.Revision) },
		"move of a directory to where it is":   func() (*stardust.Document, error) { return f.objects.Move(f.dir, 0, "dir", 0, true) },
	} {
		if _, err := call(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if now, err := f.objects.Tree().Get(f.file); err != nil || now != before {
			t.Errorf("%s: %+v, was %+v, %v", what, now, before, err)
		}
	}
	if snapshot, err := f.db.Snapshot(); err != nil || snapshot.Revision() != before.Revision {
		t.Errorf("a transaction was written: %v", err)
	}
}

func TestAMoveReplacesANodeOfTheSameKind(t *testing.T) {
	f := newFixture(t)
	moved := record(t, must(f.objects.Move(f.inner, 0, "file.txt", 0, true)), nil)
	if _, err := f.objects.Get(f.file); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("the replaced file: %v", err)
	}
	if got, err := f.objects.Tree().Lookup(0, "file.txt"); err != nil || got != moved || got.Entity != f.inner {
		t.Errorf("%+v, %v", got, err)
	}
	record(t, must(f.objects.Move(f.dir, 0, "empty", 0, true)), nil)
	if _, err := f.objects.Get(f.empty); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("the replaced directory: %v", err)
	}
	versions, err := f.objects.Tree().History(f.file)
	if err != nil || len(versions) != 1 || !versions[0].Removed || versions[0].Until != moved.Revision {
		t.Errorf("history of the replaced file: %+v, %v", versions, err)
	}
}

func TestNamesAreBytesAndNothingIsFolded(t *testing.T) {
	db := openFast(t, withObjects())
	names := []string{
		"\u00e9", "e\u0301", // NFC and NFD of one text
		"CON", "con", "trailing ", "trailing.", "a:b", `..\x`, "...", " ", "\n", "%2F", "\u200b",
		strings.Repeat("n", stardust.MaxNameLength),
	}
	text := "["
	for _, name := range names {
		text += fmt.Sprintf("{name %s}", quoteJSON(t, name))
	}
	for i, r := range create(t, db, text+"]") {
		if got, err := db.Tree().Lookup(0, names[i]); err != nil || got != r || got.Name != names[i] {
			t.Errorf("%q: %+v, %v", names[i], got, err)
		}
	}
	last := ""
	for r, err := range db.Tree().Children(0) {
		if err != nil || r.Name <= last {
			t.Errorf("%q is listed after %q, %v", r.Name, last, err)
		}
		last = r.Name
	}
}

func quoteJSON(t *testing.T, s string) string {
	t.Helper()
	for _, c := range []string{`\`, `"`} {
		s = strings.ReplaceAll(s, c, `\`+c)
	}
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}

// TestThePastStaysAsItWas notes the whole tree after every write, and compares
// it with what AsOf shows at the end, after another open.
func TestThePastStaysAsItWas(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	f := newFixture(t)
	f.db = openAt(t, path, withObjects())
	f.objects = f.db.Objects()
	f.digest, f.other = upload(t, f.db, []byte("one")), upload(t, f.db, []byte("two"))
	create(t, f.db, `[{name dir} {name file.txt digest {#sha256 "`+f.digest.String()+`"}}
		{name inner.txt under 1 digest {#sha256 "`+f.digest.String()+`"}} {name empty}]`)
	past := map[int64]string{0: treeText(t, mustAsOf(t, f.db, 0))}
	note := func() {
		snapshot, err := f.db.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		past[snapshot.Revision()] = treeText(t, snapshot.Objects())
	}
	note()
	for _, write := range []func() error{
		func() error { return f.update(f.file, f.other.String()) },
		func() error { return document(f.objects.Move(f.inner, f.empty, "in", 0, false)) },
		func() error { return f.objects.Remove(f.dir, 0) },
		func() error { return f.create(`[{name dir}]`) }, // the name again, another node
		func() error { return document(f.objects.Move(f.file, f.empty, "in", 0, true)) },
		func() error { return document(f.db.Patch(f.empty, parse(t, `{a {b 1}}`), 0)) },
		func() error { return f.objects.Remove(f.file, 0) },
		func() error { return f.objects.Remove(f.empty, 0) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		note()
	}
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	f.db = openAt(t, path, withObjects())
	for revision, want := range past {
		if got := treeText(t, mustAsOf(t, f.db, revision)); got != want {
			t.Errorf("as of %d the tree is\n%s\nwant\n%s", revision, got, want)
		}
	}
	_, err := f.db.AsOf(1000)
	wantStatus(t, "the future", err, stardust.StatusNotFound, "")
	_, err = f.db.AsOf(-1)
	wantStatus(t, "before the beginning", err, stardust.StatusInvalidArgument, "")
}

func mustAsOf(t *testing.T, db *stardust.DB, revision int64) stardust.Objects {
	t.Helper()
	snapshot, err := db.AsOf(revision)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Objects()
}

func treeText(t *testing.T, objects stardust.Objects) string {
	t.Helper()
	var out strings.Builder
	for entry, err := range objects.Tree().Walk(0) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %+v\n", entry.Path, entry.Record)
		if entry.Record.Kind == stardust.KindFile {
			files, err := objects.Files(entry.Record.Digest.String())
			if err != nil || !strings.Contains(files.String(), itoa(entry.Record.Entity)) {
				t.Errorf("files of %+v: %v, %v", entry, files, err)
			}
		}
	}
	return out.String()
}

func TestHistoryListsEveryVersion(t *testing.T) {
	f := newFixture(t)
	if err := f.update(f.file, f.other.String()); err != nil {
		t.Fatal(err)
	}
	if err := document(f.objects.Move(f.file, f.dir, "moved", 0, false)); err != nil {
		t.Fatal(err)
	}
	if err := f.objects.Remove(f.file, 0); err != nil {
		t.Fatal(err)
	}
	got, err := f.objects.History(f.file)
	if err != nil {
		t.Fatal(err)
	}
	head := `{"entity":2,"parent":0,"revision":5,"name":"file.txt","kind":"file","size":3,"digest":{"#sha256":"` + f.digest.String() + `"},"until":6}`
	want := "[" + head + "," + strings.NewReplacer(`"revision":5`, `"revision":6`, f.digest.String(), f.other.String(), `"until":6`, `"until":7`).Replace(head) +
		"," + strings.NewReplacer(`"parent":0`, `"parent":1`, `"revision":5`, `"revision":7`, `file.txt`, `moved`, f.digest.String(), f.other.String(), `"until":6`, `"until":8,"removed":true`).Replace(head) + "]"
	if text, err := got.JSON(); err != nil || string(text) != want {
		t.Errorf("history is\n%s\nwant\n%s", text, want)
	}
	old, err := mustAsOf(t, f.db, 6).Tree().History(f.file)
	if err != nil || len(old) != 2 || old[1].Until != 0 {
		t.Errorf("as of revision 6: %+v, %v", old, err)
	}
}

func TestTransactionsTellWhatEachCommitWrote(t *testing.T) {
	f := newFixture(t)
	if err := document(f.db.Patch(f.dir, parse(t, `{color red}`), 0)); err != nil {
		t.Fatal(err)
	}
	if err := f.objects.Remove(f.empty, 0); err != nil {
		t.Fatal(err)
	}
	var text []string
	for transaction, err := range f.db.Transactions(0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, fact := range transaction.Facts {
			text = append(text, fmt.Sprintf("%d: %d %s %v %v", transaction.ID, fact.Entity, fact.Attribute, fact.Value, fact.Retracted))
		}
	}
	want := []string{
		"5: 1 stardust/object/parent 0 false", "5: 1 stardust/object/name dir false",
		"5: 2 stardust/object/parent 0 false", "5: 2 stardust/object/name file.txt false",
		"5: 2 stardust/object/digest " + f.digest.String() + " false",
		"5: 3 stardust/object/parent 1 false", "5: 3 stardust/object/name inner.txt false",
		"5: 3 stardust/object/digest " + f.digest.String() + " false",
		"5: 4 stardust/object/parent 0 false", "5: 4 stardust/object/name empty false",
		"6: 1 color \"red\" false",
		"7: 4 stardust/object/parent <nil> true", "7: 4 stardust/object/name <nil> true",
	}
	if got := strings.Join(text, "\n"); strings.ReplaceAll(got, `"`, "") != strings.ReplaceAll(strings.Join(want, "\n"), `"`, "") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for transaction, err := range f.db.Transactions(6) {
		if err != nil || transaction.ID != 6 {
			t.Errorf("from 6 on: %+v, %v", transaction, err)
		}
		break
	}
}

// TestWithoutThePluginPayloadsAndFilesStayAndReturn also checks what can be done
// meanwhile, by the code that a refused write has.
func TestWithoutThePluginPayloadsAndFilesStayAndReturn(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	digest := upload(t, db, []byte("one"))
	other := upload(t, db, []byte("two"))
	made := create(t, db, fmt.Sprintf(`[{name f digest {#sha256 %q}}]`, digest))[0]
	db.Close()

	db = openAt(t, path, nil)
	_, err := db.Patch(made.Entity, parse(t, `{"stardust/object/digest" {#sha256 `+other.String()+`}}`), 0)
	wantStatus(t, "patch of the digest", err, stardust.StatusUnavailable, stardust.CodePluginRequired)
	_, err = db.Patch(made.Entity, parse(t, `{color red "stardust/object/digest" {#sha256 `+other.String()+`}}`), 0)
	wantStatus(t, "patch of the digest and more", err, stardust.StatusUnavailable, stardust.CodePluginRequired)
	_, err = db.Call("objects", "get", parse(t, `{entity 1}`))
	wantStatus(t, "call", err, stardust.StatusUnavailable, "")
	_, err = db.Stream("objects", "upload", nil)
	wantStatus(t, "stream", err, stardust.StatusUnavailable, "")
	if got, err := db.Patch(made.Entity, parse(t, `{color red}`), 0); err != nil || !strings.Contains(got.String(), "red") {
		t.Errorf("patch of another attribute: %v, %v", got, err)
	}
	db.Close()

	db = openAt(t, path, withObjects())
	if got, err := download(db, digest); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := db.Tree().Lookup(0, "f"); err != nil || got.Digest != digest {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = db.Patch(made.Entity, parse(t, `{"stardust/object/digest" {#sha256 `+unknown+`}}`), 0)
	wantStatus(t, "patch to what is not published", err, stardust.StatusNotFound, stardust.CodeUnpublished)
	if _, err := db.Patch(made.Entity, parse(t, `{"stardust/object/digest" {#sha256 `+other.String()+`}}`), 0); err != nil {
		t.Error(err)
	}
	if got, err := db.Tree().Get(made.Entity); err != nil || got.Digest != other {
		t.Errorf("%+v, %v", got, err)
	}
}

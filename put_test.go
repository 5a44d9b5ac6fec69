package stardust_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stardustdb/stardust"
)

// TestPutStoresAndNamesAFileInOneCommit makes a file with the directories that
// lead to it, gives it new content, and gives it the same content again.
func TestPutStoresAndNamesAFileInOneCommit(t *testing.T) {
	db := openFast(t, withObjects())
	tree := db.Tree()
	made, err := tree.Put("/a/b/c.txt", strings.NewReader("one"), &stardust.PutOptions{Parents: true})
	if err != nil || made.Entity != 3 || made.Revision != 4 || made.Size != 3 || made.Digest != digestOf([]byte("one")) {
		t.Fatalf("made: %+v, %v", made, err)
	}
	changed, err := tree.Put("a/b//c.txt", strings.NewReader("two!"), &stardust.PutOptions{ExpectedRevision: made.Revision})
	if err != nil || changed.Entity != 3 || changed.Revision != 5 || changed.Size != 4 {
		t.Fatalf("changed: %+v, %v", changed, err)
	}
	same, err := tree.Put("a/b/c.txt", strings.NewReader("two!"), nil)
	if err != nil || same != changed {
		t.Fatalf("the same again: %+v, %v", same, err)
	}
	if got, err := tree.Get(3); err != nil || got != changed {
		t.Errorf("the record is %+v, %v", got, err)
	}
	if text, err := fs.ReadFile(tree.FS(), "a/b/c.txt"); err != nil || string(text) != "two!" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestARefusedPutLeavesNothing checks that nothing is named, published or given
// an id by a Put that fails, and that a name from a user is only a name.
func TestARefusedPutLeavesNothing(t *testing.T) {
	db := openFast(t, withObjects())
	tree := db.Tree()
	odd := `a parent 1 {name "x"}`
	file, err := tree.Put(odd, strings.NewReader("x"), nil)
	if err != nil || file.Name != odd || file.Parent != 0 {
		t.Fatalf("%+v, %v", file, err)
	}
	if _, err := tree.Create(stardust.NewNode{Name: "dir"}); err != nil {
		t.Fatal(err)
	}
	before, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken pipe")
	for what, c := range map[string]struct {
		path    string
		from    io.Reader
		options stardust.PutOptions
		want    error
	}{
		"a missing parent":     {"no/file", nil, stardust.PutOptions{}, stardust.StatusNotFound},
		"through a file":       {odd + "/file", nil, stardust.PutOptions{Parents: true}, stardust.StatusInvalidArgument},
		"a directory":          {"dir", nil, stardust.PutOptions{}, stardust.StatusInvalidArgument},
		"a slash at the end":   {"new/", nil, stardust.PutOptions{Parents: true}, stardust.StatusInvalidArgument},
		"the root":             {"/", nil, stardust.PutOptions{}, stardust.StatusInvalidArgument},
		"dot dot":              {"../x", nil, stardust.PutOptions{Parents: true}, stardust.StatusInvalidArgument},
		"there already":        {odd, nil, stardust.PutOptions{New: true}, fs.ErrExist},
		"a stale revision":     {odd, nil, stardust.PutOptions{ExpectedRevision: file.Revision + 1}, stardust.StatusConflict},
		"a revision of no one": {"new", nil, stardust.PutOptions{ExpectedRevision: 1}, stardust.StatusNotFound},
		"a negative revision":  {odd, nil, stardust.PutOptions{ExpectedRevision: -1}, stardust.StatusInvalidArgument},
		"a broken reader":      {"new", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), stardust.PutOptions{}, broken},
	} {
		// A reader that is not nil is the only one that may be read.
		if _, err := tree.Put(c.path, c.from, &c.options); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	after, err := db.Info()
	if err != nil || after.LastRevision != before.LastRevision || after.Payloads != before.Payloads || after.Chunks != before.Chunks {
		t.Errorf("%+v, %v, was %+v", after, err, before)
	}
	if next, err := tree.Put("next", strings.NewReader(""), nil); err != nil || next.Entity != before.LastRevision+1 {
		t.Errorf("a refused put took an id: %+v, %v", next, err)
	}
}

// TestBothFormsOfAnOperationAgree compares the documents of Objects with the
// values of Tree.
func TestBothFormsOfAnOperationAgree(t *testing.T) {
	f := newFixture(t)
	tree, o := f.db.Tree(), f.db.Objects()
	record := must(tree.Get(f.file))
	var decoded stardust.Record
	if err := must(o.Get(f.file)).Decode(&decoded); err != nil || decoded != record {
		t.Errorf("get: %+v, %+v, %v", decoded, record, err)
	}
	if got := must(tree.Lookup(record.Parent, record.Name)); got != record {
		t.Errorf("lookup: %+v, want %+v", got, record)
	}
	var entities []int64
	if err := must(o.Files(f.digest.String())).Decode(&entities); err != nil {
		t.Fatal(err)
	}
	if got := must(tree.Files(f.digest)); len(got) == 0 || len(got) != len(entities) || got[0] != entities[0] {
		t.Errorf("files: %v, want %v", got, entities)
	}
	var manifest stardust.Manifest
	if err := must(o.Manifest(f.digest.String())).Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	if got := must(tree.Manifest(f.digest)); got.Digest != manifest.Digest || got.Size != manifest.Size || len(got.Chunks) != len(manifest.Chunks) {
		t.Errorf("manifest: %+v, want %+v", got, manifest)
	}
	updated := must(tree.Update(f.file, f.other, record.Revision))
	if updated.Digest != f.other || updated.Revision <= record.Revision {
		t.Errorf("update: %+v", updated)
	}
	if _, err := tree.Update(f.file, f.digest, record.Revision); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("a stale update: %v", err)
	}
	made := must(tree.Create(stardust.NewNode{Name: "x"}, stardust.NewNode{Name: "y", Under: 1, Digest: &f.digest}))
	if made[1].Parent != made[0].Entity || made[1].Kind != stardust.KindFile {
		t.Errorf("create: %+v", made)
	}
	for _, nodes := range [][]stardust.NewNode{
		{},
		{{Name: "a/b"}},
		{{Name: ""}},
		{{Name: "z", Under: 1}},
		{{Name: "z", Under: -1}},
		{{Name: "z", Parent: -1}},
		{{Name: "z", Digest: &f.digest}, {Name: "in", Under: 1}},
		{{Name: "z"}, {Name: "in", Under: 1, Parent: f.empty}},
	} {
		if _, err := tree.Create(nodes...); !errors.Is(err, stardust.StatusInvalidArgument) {
			t.Errorf("create %+v: %v", nodes, err)
		}
	}
	moved := must(tree.Move(made[1].Entity, 0, "y", made[1].Revision, false))
	if err := tree.Remove(moved.Entity, moved.Revision); err != nil {
		t.Errorf("remove: %v", err)
	}
}

package stardust_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

func TestPutGivesAttributesInTheSameCommit(t *testing.T) {
	db := openFast(t, withObjects())
	tree := db.Tree()
	with := func(text string) *stardust.PutOptions {
		d, err := stardust.Parse([]byte(text), stardust.JSON)
		if err != nil {
			t.Fatal(err)
		}
		return &stardust.PutOptions{Attributes: d}
	}
	made, err := tree.Put("a", strings.NewReader("one"), with(`{"x":{"old":1},"y":2}`))
	if err != nil || made.Revision != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	changed, err := tree.PutPublished("a", made.Digest, with(`{"x":{"new":1},"y":null}`))
	if err != nil || changed.Revision != 3 || changed.Size != 3 {
		t.Fatalf("%+v, %v", changed, err)
	}
	same, err := tree.Put("a", strings.NewReader("one"), with(`{"x":{"new":1},"y":null}`))
	if err != nil || same != changed {
		t.Fatalf("the same again: %+v, %v", same, err)
	}
	for revision, want := range map[int64]string{made.Revision: `"x":{"old":1},"y":2`, changed.Revision: `"x":{"new":1}}`} {
		snapshot, err := db.AsOf(revision)
		if err != nil {
			t.Fatal(err)
		}
		d, err := snapshot.Tree().Attributes(made.Entity)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := d.JSON(); !strings.Contains(string(text), want) {
			t.Errorf("at %d: %s, want %s", revision, text, want)
		}
	}
	for _, wrong := range []string{`{"stardust/object/name":"b"}`, `{"stardust/object/digest":"00"}`, `[]`, `{"":1}`} {
		if _, err := tree.Put("b", strings.NewReader("x"), with(wrong)); !errors.Is(err, stardust.StatusInvalidArgument) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := tree.Resolve("b"); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("a refused put left %v", err)
	}
	if _, err := tree.PutPublished("b", stardust.Digest{1}, nil); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("a payload that is not there: %v", err)
	}
}

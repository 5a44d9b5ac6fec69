package stardust_test

import (
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestPatchIsRFC7396 runs the test cases of the RFC's appendix A, each as the
// value of one attribute. Those whose patch is no object replace or remove the
// attribute itself.
func TestPatchIsRFC7396(t *testing.T) {
	for _, c := range []struct{ original, patch, result string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, ``},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1}`}, // an object as patch never stores a null
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		db := openFast(t, withObjects())
		entity := create(t, db, `[{name n}]`)[0].Entity
		patch := func(text string) string {
			got, err := db.Patch(entity, parse(t, `{"x":`+text+`}`), 0)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			attributes, err := got.JSON()
			if err != nil {
				t.Fatal(err)
			}
			_, value, found := strings.Cut(string(attributes), `"x":`)
			if !found {
				return ""
			}
			return strings.TrimSuffix(value, "}")
		}
		patch(c.original)
		if got := patch(c.patch); got != c.result {
			t.Errorf("%s patched with %s is %s, want %s", c.original, c.patch, got, c.result)
		}
	}
}

func TestPatchRefusesWhatItMayNotWrite(t *testing.T) {
	f := newFixture(t)
	digest := `{#sha256 ` + f.other.String() + `}`
	for _, c := range []struct {
		entity int64
		patch  string
		status stardust.Status
		names  string // what the message must contain
	}{
		{f.file, `[1]`, stardust.StatusInvalidArgument, "array"},
		{f.file, `{"stardust/object/name" x}`, stardust.StatusInvalidArgument, "stardust/object/name"},
		{f.file, `{"stardust/object/parent" 0}`, stardust.StatusInvalidArgument, "stardust/object/parent"},
		{f.file, `{"stardust/other" 0}`, stardust.StatusInvalidArgument, "stardust/other"},
		{f.file, `{"stardust/object/digest" null}`, stardust.StatusInvalidArgument, "stardust/object/digest"},
		{f.file, `{"stardust/object/digest" 12}`, stardust.StatusInvalidArgument, "stardust/object/digest"},
		{f.file, `{"stardust/object/digest" {#sha256 12}}`, stardust.StatusInvalidArgument, "stardust/object/digest"},
		{f.dir, `{"stardust/object/digest" ` + digest + `}`, stardust.StatusInvalidArgument, "directory"},
		{f.file, `{"" 1}`, stardust.StatusInvalidArgument, "attribute"},
		{f.file, `{"` + strings.Repeat("a", 4097) + `" 1}`, stardust.StatusInvalidArgument, "4096"},
		{0, `{a 1}`, stardust.StatusInvalidArgument, "entity"},
		{999, `{a 1}`, stardust.StatusNotFound, "999"},
	} {
		_, err := f.db.Patch(c.entity, parse(t, c.patch), 0)
		wantStatus(t, c.patch[:min(len(c.patch), 60)], err, c.status, "")
		if err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%.60s: %v does not name %s", c.patch, err, c.names)
		}
	}
	_, err := f.db.Patch(f.file, parse(t, `{a 1}`), -1)
	wantStatus(t, "negative revision", err, stardust.StatusInvalidArgument, "")
	_, err = f.db.Patch(f.file, nil, 0)
	wantStatus(t, "no document", err, stardust.StatusClosed, "")
	if next := create(t, f.db, `[{name next}]`)[0]; next.Entity != 6 {
		t.Errorf("a refused patch took an id: the next entity is %d", next.Entity)
	}
}

func TestAttributesGoWithTheirNode(t *testing.T) {
	f := newFixture(t)
	if _, err := f.db.Patch(f.empty, parse(t, `{color red size {w 1 h 2}}`), 0); err != nil {
		t.Fatal(err)
	}
	got, err := f.db.Attributes(f.empty)
	want := `{"color":"red","size":{"w":1,"h":2},"stardust/object/name":"empty","stardust/object/parent":0}`
	if text, _ := got.JSON(); err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	if err := f.objects.Remove(f.empty, 0); err != nil {
		t.Fatal(err)
	}
	_, err = f.db.Attributes(f.empty)
	wantStatus(t, "attributes of a removed node", err, stardust.StatusNotFound, "")
	wantClean(t, f.db)
}

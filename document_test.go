package stardust_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
)

const fileRecord = `{"entity":1,"parent":0,"revision":2,"name":"hello.txt","kind":"file","size":14,` +
	`"digest":{"#sha256":"95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}`

var (
	_ fmt.Stringer           = (*stardust.Document)(nil)
	_ json.Marshaler         = (*stardust.Document)(nil)
	_ encoding.TextMarshaler = (*stardust.Document)(nil)
)

func mustParse(t testing.TB, text string, format stardust.Format) *stardust.Document {
	t.Helper()
	d, err := stardust.Parse([]byte(text), format)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// A document converts to both formats, in the order it came in.
func TestDocumentConvertsToBothFormats(t *testing.T) {
	d := mustParse(t, fileRecord, stardust.JSON)
	const asDUST = `{entity 1 parent 0 revision 2 name hello.txt kind file size 14 digest ` +
		`{#sha256 "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"}}`
	const indented = `{
  "entity": 1,
  "parent": 0,
  "revision": 2,
  "name": "hello.txt",
  "kind": "file",
  "size": 14,
  "digest": {
    "#sha256": "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
  }
}`
	for name, c := range map[string]struct {
		print func() ([]byte, error)
		want  string
	}{
		"JSON":        {d.JSON, fileRecord},
		"DUST":        {d.DUST, asDUST},
		"Indent":      {d.Indent, indented},
		"Encode JSON": {func() ([]byte, error) { return d.Encode(stardust.JSON) }, fileRecord},
		"Encode DUST": {func() ([]byte, error) { return d.Encode(stardust.DUST) }, asDUST},
		"MarshalJSON": {d.MarshalJSON, fileRecord},
		"MarshalText": {d.MarshalText, asDUST},
		"String":      {func() ([]byte, error) { return []byte(d.String()), nil }, asDUST},
		"json.Marshal": {func() ([]byte, error) {
			return json.Marshal(d)
		}, fileRecord},
	} {
		if got, err := c.print(); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	again := mustParse(t, asDUST, stardust.DUST)
	if got, err := again.JSON(); err != nil || string(got) != fileRecord {
		t.Errorf("back from DUST: %s, %v", got, err)
	}
}

// What one caller does to the bytes it got, another does not see.
func TestPrintedBytesAreTheCallersOwn(t *testing.T) {
	d := mustParse(t, `[a b]`, stardust.DUST)
	first, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	clear(first)
	if second, err := d.JSON(); err != nil || string(second) != `["a","b"]` {
		t.Errorf("got %s, %v", second, err)
	}
}

// methods calls every method of a document that can fail.
func methods(d *stardust.Document) map[string]error {
	errs := map[string]error{}
	_, errs["JSON"] = d.JSON()
	_, errs["Indent"] = d.Indent()
	_, errs["DUST"] = d.DUST()
	_, errs["Encode"] = d.Encode(stardust.JSON)
	_, errs["MarshalJSON"] = d.MarshalJSON()
	_, errs["MarshalText"] = d.MarshalText()
	_, errs["Root"] = d.Root()
	var v any
	errs["Decode"] = d.Decode(&v)
	return errs
}

// After Close, and on a nil document, every method reports closed.
func TestDocumentReportsClosedAfterClose(t *testing.T) {
	closed := mustParse(t, `{a 1}`, stardust.DUST)
	for name, err := range methods(closed) {
		if err != nil {
			t.Errorf("%s of an open document: %v", name, err)
		}
	}
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	var none *stardust.Document
	if err := none.Close(); err != nil {
		t.Errorf("Close of a nil document: %v", err)
	}
	for what, d := range map[string]*stardust.Document{"closed": closed, "nil": none, "zero but closed": closedZero(t)} {
		for name, err := range methods(d) {
			var e *stardust.Error
			if !errors.Is(err, stardust.StatusClosed) || !errors.Is(err, fs.ErrClosed) || !errors.As(err, &e) {
				t.Errorf("%s of a %s document: %v, want closed", name, what, err)
			} else if !strings.HasPrefix(e.Op, "document.") {
				t.Errorf("%s of a %s document: the error names the operation %q", name, what, e.Op)
			}
		}
	}
	if got := closed.String() + none.String(); got != "(closed document)(nil document)" {
		t.Errorf("String: %s", got)
	}
}

// The zero Document is null, and closes as any other.
func closedZero(t *testing.T) *stardust.Document {
	var d stardust.Document
	if text, err := d.JSON(); err != nil || string(text) != "null" {
		t.Errorf("the zero document is %s, %v", text, err)
	}
	_ = d.Close()
	return &d
}

// Many goroutines may use and close one document; each call sees all of it or
// that it is closed.
func TestDocumentIsSafeForConcurrentUse(t *testing.T) {
	d := mustParse(t, fileRecord, stardust.JSON)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 200 {
				text, err := d.JSON()
				if err != nil && !errors.Is(err, stardust.StatusClosed) || err == nil && string(text) != fileRecord {
					t.Errorf("got %s, %v", text, err)
				}
				for name, err := range methods(d) {
					if err != nil && !errors.Is(err, stardust.StatusClosed) {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			if i == 3 {
				_ = d.Close()
			}
		})
	}
	wait.Wait()
}

func TestEncodeRefusesAnUnknownFormat(t *testing.T) {
	d := mustParse(t, `{}`, stardust.DUST)
	if _, err := d.Encode(stardust.Format(9)); !errors.Is(err, stardust.StatusInvalidArgument) || !strings.Contains(err.Error(), "format 9") {
		t.Errorf("got %v", err)
	}
}

// A program can walk a document, and the values stay when it closes.
func TestDocumentCanBeWalked(t *testing.T) {
	d := mustParse(t, `{n null b true i -5 x 1.50 big 1e400 s word list [1 two {}]}`, stardust.DUST)
	root, err := d.Root()
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()

	kinds := map[string]stardust.ValueKind{}
	var names []string
	for name, v := range root.Members() {
		names = append(names, name)
		kinds[name] = v.Kind()
	}
	if want := []string{"n", "b", "i", "x", "big", "s", "list"}; !slices.Equal(names, want) {
		t.Errorf("the members are %v, want %v", names, want)
	}
	want := map[string]stardust.ValueKind{
		"n": stardust.ValueNull, "b": stardust.ValueBool, "i": stardust.ValueInt, "x": stardust.ValueNumber,
		"big": stardust.ValueNumber, "s": stardust.ValueString, "list": stardust.ValueArray,
	}
	if !reflect.DeepEqual(kinds, want) || root.Kind() != stardust.ValueObject || root.Len() != len(want) {
		t.Errorf("the kinds are %v in %v of %d", kinds, root.Kind(), root.Len())
	}

	member := func(name string) stardust.Value {
		v, ok := root.Member(name)
		if !ok {
			t.Errorf("there is no member %s", name)
		}
		return v
	}
	if b, ok := member("b").Bool(); !b || !ok {
		t.Errorf("b is %v, %v", b, ok)
	}
	if i, ok := member("i").Int64(); i != -5 || !ok {
		t.Errorf("i is %v, %v", i, ok)
	}
	if f, ok := member("x").Float64(); f != 1.5 || !ok {
		t.Errorf("x is %v, %v", f, ok)
	}
	if n, ok := member("x").Number(); n != "1.50" || !ok {
		t.Errorf("x is %v, %v", n, ok)
	}
	if f, ok := member("big").Float64(); ok {
		t.Errorf("big is %v, which no float64 holds", f)
	}
	if s, ok := member("s").Text(); s != "word" || !ok {
		t.Errorf("s is %v, %v", s, ok)
	}

	list := member("list")
	var items []string
	for v := range list.Items() {
		items = append(items, v.String())
	}
	if want := []string{"1", "two", "{}"}; !slices.Equal(items, want) || list.Len() != 3 {
		t.Errorf("the items are %v of %d, want %v", items, list.Len(), want)
	}
	if v, ok := list.Index(1); !ok || v.String() != "two" {
		t.Errorf("item 1 is %v, %v", v, ok)
	}
	if text, err := json.Marshal(map[string]any{"v": list}); err != nil || string(text) != `{"v":[1,"two",{}]}` {
		t.Errorf("as JSON: %s, %v", text, err)
	}
	if text, err := list.MarshalText(); err != nil || string(text) != `[1 two {}]` {
		t.Errorf("as text: %s, %v", text, err)
	}
}

// Asking a value for what it is not says so and never panics.
func TestValuesRefuseWhatTheyAreNot(t *testing.T) {
	for _, text := range []string{`null`, `true`, `1`, `1.5`, `word`, `[]`, `{}`} {
		v, err := mustParse(t, text, stardust.DUST).Root()
		if err != nil {
			t.Fatal(err)
		}
		oks := 0
		for _, ok := range []bool{second(v.Bool()), second(v.Int64()), second(v.Text()), second(v.Member("a")), second(v.Index(0)), second(v.Index(-1))} {
			if ok {
				oks++
			}
		}
		if want := map[string]int{"true": 1, "1": 1, "word": 1}[text]; oks != want {
			t.Errorf("%s answers %d questions, want %d", text, oks, want)
		}
		if v.Len() != 0 {
			t.Errorf("%s has length %d", text, v.Len())
		}
		for range v.Items() {
			t.Errorf("%s has items", text)
		}
		for range v.Members() {
			t.Errorf("%s has members", text)
		}
		if isNumber := text == "1" || text == "1.5"; second(v.Float64()) != isNumber || second(v.Number()) != isNumber {
			t.Errorf("%s: wrong about being a number", text)
		}
	}
}

func second[T any](_ T, ok bool) bool { return ok }

func TestValueKindsHaveNames(t *testing.T) {
	for kind, want := range map[stardust.ValueKind]string{
		stardust.ValueNull: "null", stardust.ValueBool: "a boolean", stardust.ValueInt: "an integer",
		stardust.ValueNumber: "a number", stardust.ValueString: "a string", stardust.ValueArray: "an array",
		stardust.ValueObject: "an object", stardust.ValueObject + 1: "kind 7", -1: "kind -1", 256: "kind 256",
	} {
		if kind.String() != want {
			t.Errorf("kind %d is %q, want %q", int(kind), kind.String(), want)
		}
	}
}

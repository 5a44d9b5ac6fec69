package dust_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// seeds are texts of every construct, right and wrong, for both fuzzers.
func seeds() []string {
	return []string{
		``, ` `, `{}`, `[]`, `null`, `true`, `-0`, `1e400`, `01`, `12345678901234567890`, `""`, `"\u0041\ud83d\ude00"`,
		`"\ud800"`, `{"a":1,"a":2}`, `{"a":[1,2.5,{"b":null}],"c":"d"}`, "[\"\xff\"]", "\ufeff{}", `[1,]`, `{"a":1,}`,
		`plugins {objects {}}`, `[{name hello.txt under 1 digest {#sha256 "95e8"}}]`, `{#sha256 95e84d}`, `a:1,b:2,`, "# x\na 1", `{//x 1}`, `{"#" "//"}`,
		`[a"b"]`, `{a, 1}`, `[[[[[[[[]]]]]]]]`, "\"\x00\"", "\"\\", `{"a`, `true false`, `café ３`, "[1\u00a02]", `[1.5.2 -]`, "{\"\\ud83d\\ude00\": \"\u2028\"}",
	}
}

// FuzzDUST holds that no text makes Parse panic, that what is accepted prints
// as text of the same value, and that an error lies within the text.
func FuzzDUST(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := dust.Parse(text, dust.DUST)
		if err != nil {
			checkError(t, text, err)
			return
		}
		if err := survives(v); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// FuzzJSON holds that Parse accepts the texts that encoding/json does, but for
// those the package comment refuses, with the same meaning, and that DUST
// reads each of them as the same value.
func FuzzJSON(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := dust.Parse(text, dust.JSON)
		valid := json.Valid(text)
		if err != nil {
			checkError(t, text, err)
			if valid && !isException(err) {
				t.Errorf("%q is refused: %v", text, err)
			}
			return
		}
		if !valid {
			t.Fatalf("%q is accepted as %s", text, dust.AppendJSON(nil, v))
		}
		if err := survives(v); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if again, err := dust.Parse(text, dust.DUST); err != nil || !dust.Equal(v, again) {
			t.Errorf("%q as DUST is %s, %v", text, dust.AppendJSON(nil, again), err)
		}
		if ours, theirs := decode(t, dust.AppendJSON(nil, v)), decode(t, text); !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%q is %v, want %v", text, ours, theirs)
		}
	})
}

// isException reports whether err is one of the rules by which the package is
// stricter than encoding/json.
func isException(err error) bool {
	for _, rule := range []string{"appears twice", "within each other", "not valid UTF-8", "surrogate pair"} {
		if strings.Contains(err.Error(), rule) {
			return true
		}
	}
	return false
}

func checkError(t *testing.T, text []byte, err error) {
	var syntax *dust.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("%q: %v is no SyntaxError", text, err)
	}
	if syntax.Offset < 0 || syntax.Offset > len(text) || syntax.Message == "" {
		t.Errorf("%q: %#v", text, syntax)
	}
	if lines := bytes.Count(text[:syntax.Offset], []byte("\n")) + 1; syntax.Line != lines || syntax.Column < 1 {
		t.Errorf("%q: offset %d is at line %d, not %v", text, syntax.Offset, lines, err)
	}
}

func decode(t *testing.T, text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("encoding/json refuses %q: %v", text, err)
	}
	return v
}

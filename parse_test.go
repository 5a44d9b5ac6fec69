package stardust_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// A text that breaks the rules is invalid_argument, and the message names the
// format, line, column and what was expected.
func TestParseNamesLineAndColumn(t *testing.T) {
	for _, c := range []struct {
		text   string
		format stardust.Format
		want   string
	}{
		{"{name\n  }", stardust.DUST, `DUST text: line 2, column 3: expected a value for the key "name", found }`},
		{"{name: 1}", stardust.JSON, `JSON text: line 1, column 2: expected a key in quotes or }, found "name"`},
		{"", stardust.JSON, "line 1, column 1: expected a value"},
		{"a 1 a 2", stardust.DUST, `line 1, column 5: the key "a" appears twice`},
		{"\"\xff\"", stardust.DUST, "line 1, column 2: the byte 0xff is not valid UTF-8"},
		{strings.Repeat("[", 1<<20), stardust.DUST, "line 1, column 129: more than 128"},
		{"{}", stardust.Format(9), "format 9 is unknown; expected stardust.DUST or stardust.JSON"},
		{"{}", stardust.Format(-1), "format -1 is unknown"},
	} {
		d, err := stardust.Parse([]byte(c.text), c.format)
		var e *stardust.Error
		if d != nil || !errors.Is(err, stardust.StatusInvalidArgument) || !errors.As(err, &e) {
			t.Errorf("%.20q: %v, %v; want invalid_argument", c.text, d, err)
			continue
		}
		if e.Op != "parse" || !strings.Contains(e.Message, c.want) {
			t.Errorf("%.20q: op %q, message %q; want %q", c.text, e.Op, e.Message, c.want)
		}
	}
}

// The requests of the objects spec, as printed there, are what they look like.
func TestParseReadsTheRequestsOfTheSpec(t *testing.T) {
	const digest = "95e84da38cbefdf3f9f6ef02201074c73124f7cf2025d3e1d69e591a410856fb"
	for text, want := range map[string]string{
		`[{name hello.txt digest {#sha256 "` + digest + `"}}]`: `[{"name":"hello.txt","digest":{"#sha256":"` + digest + `"}}]`,
		`[{name hello.txt digest {#sha256 ` + digest + `}}]`:   `[{"name":"hello.txt","digest":{"#sha256":"` + digest + `"}}]`,
		`[{name notes} {name drafts under 1}]`:                 `[{"name":"notes"},{"name":"drafts","under":1}]`,
		`plugins {objects {}}`:                                 `{"plugins":{"objects":{}}}`,
	} {
		if got, err := mustParse(t, text, stardust.DUST).JSON(); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}

package main

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuoteShowsWhatIsUnclear(t *testing.T) {
	for _, test := range []struct{ name, quoted, printable string }{
		{"plain.txt", "plain.txt", "plain.txt"},
		{"two words", "two words", "two words"},
		{"größe 日本", "größe 日本", "größe 日本"},
		{"", `""`, ""},
		{" ", `" "`, " "},
		{"end ", `"end "`, "end "},
		{`say "hi"`, `"say \"hi\""`, `say "hi"`},
		{`a\b`, `"a\\b"`, `a\b`},
		{"line\nfeed", `"line\nfeed"`, `line\nfeed`},
		{"\x1b[31mred", `"\x1b[31mred"`, `\x1b[31mred`},
		{"bad\xff", `"bad\xff"`, `bad\xff`},
		{"turn\u202eback", `"turn\u202eback"`, `turn\u202eback`},
		{"no-break\u00a0space", `"no-break\u00a0space"`, `no-break\u00a0space`},
		{"\ufffd", "\ufffd", "\ufffd"},
	} {
		if got := quote(test.name); got != test.quoted {
			t.Errorf("quote(%q) = %s, want %s", test.name, got, test.quoted)
		}
		if got := printable(test.name); got != test.printable {
			t.Errorf("printable(%q) = %s, want %s", test.name, got, test.printable)
		}
	}
}

// Whatever a name holds, nothing of it reaches a terminal but what can be seen,
// and a quoted name can be read back.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a", "\x1b]0;title\a", "a\xffb", "\u2028", "\"\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, shown := range []string{quote(name), printable(name)} {
			if !utf8.ValidString(shown) {
				t.Fatalf("%q is shown as invalid UTF-8 %q", name, shown)
			}
			for _, r := range shown {
				if !strconv.IsPrint(r) {
					t.Fatalf("%q is shown with %q", name, r)
				}
			}
		}
		if q := quote(name); strings.HasPrefix(q, `"`) {
			if back, err := strconv.Unquote(q); err != nil || back != name {
				t.Fatalf("%q is quoted as %s, which reads as %q, %v", name, q, back, err)
			}
		} else if q != name {
			t.Fatalf("%q is shown as %q", name, q)
		}
	})
}

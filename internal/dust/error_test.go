package dust_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// Every error names line, column and what was expected.
func TestErrorsNameThePlaceAndWhatWasExpected(t *testing.T) {
	const (
		both = "DUST and JSON"
		dst  = "DUST"
		jsn  = "JSON"
	)
	for _, c := range []struct{ format, text, want string }{
		// Objects.
		{both, `{`, `line 1, column 2: expected a key`},
		{dst, `{`, `expected a key or }, found the end of the text in the object that begins at line 1, column 1`},
		{jsn, `{`, `expected a key in quotes or }, found the end of the text in the object that begins at line 1, column 1`},
		{jsn, `{"a":1,`, `line 1, column 8: expected a key in quotes, found the end of the text in the object`},
		{jsn, `{a: 1}`, `line 1, column 2: expected a key in quotes or }, found "a"`},
		{dst, `{a}`, `line 1, column 3: expected a value for the key "a", found }`},
		{dst, `{a, 1}`, `line 1, column 3: expected a value for the key "a", found ,`},
		{dst, `{a: , b 2}`, `line 1, column 5: expected a value for the key "a", found ,`},
		{dst, `{a 1 b}`, `line 1, column 7: expected a value for the key "b", found }`},
		{jsn, `{"a" 1}`, `line 1, column 6: expected a colon after the key "a", found "1"`},
		{both, `{"a"::1}`, `line 1, column 6: expected a value for the key "a", found :`},
		{both, `{"a":1]`, `line 1, column 7: expected`},
		{dst, `{{} 1}`, `line 1, column 2: expected a key or }, found {`},
		{both, "{\"a\": 1,\n \"b\": 2,\n \"a\": 3}", `line 3, column 2: the key "a" appears twice in one object`},
		{both, `{"a":{"b":1,"\u0062":2}}`, `line 1, column 13: the key "b" appears twice in one object`},
		{dst, `a 1 b 2 "a" 3`, `line 1, column 9: the key "a" appears twice in one object`},
		{dst, `{,a 1}`, `line 1, column 2: expected a key or }, found ,`},
		{dst, `{a 1,,b 2}`, `line 1, column 6: expected a key or }, found ,`},
		{jsn, `{"a":1 "b":2}`, `line 1, column 8: expected a comma or }, found a string in the object that begins at line 1, column 1`},
		{jsn, `{"a":1,}`, `line 1, column 7: a comma before }, which JSON does not have`},

		{dst, "a 1\n// b 2", `line 2, column 1: DUST has no comments; put quotes around //`},
		{dst, `{# a}`, `line 1, column 2: DUST has no comments`},

		// Arrays.
		{both, "[\n1,\n", `line 3, column 1: expected a value`},
		{dst, "\n [1 2", `expected a value or ] in the array that begins at line 2, column 2, found the end of the text`},
		{both, `[}`, `line 1, column 2: expected a value or ] in the array that begins at line 1, column 1, found }`},
		{dst, `[1,,2]`, `line 1, column 4: expected a value or ]`},
		{both, `[,]`, `line 1, column 2: expected a value or ]`},
		{both, `[1:2]`, `line 1, column 3: expected`},
		{jsn, `[1 2]`, `line 1, column 4: expected a comma or ], found "2"`},
		{jsn, `[1,]`, `line 1, column 3: a comma before ], which JSON does not have`},
		{jsn, `[1,,2]`, `line 1, column 4: expected a value in the array that begins at line 1, column 1, found ,`},

		// Values.
		{jsn, ``, `line 1, column 1: expected a value, found the end of the text`},
		{jsn, `word`, `line 1, column 1: expected a value, found "word", which is no value in JSON without quotes`},
		{jsn, `[01]`, `line 1, column 2: expected a value or ] in the array that begins at line 1, column 1, found "01", which is no value`},
		{jsn, `{"a":+1}`, `line 1, column 6: expected a value for the key "a", found "+1"`},
		{both, `,`, `line 1, column 1: expected a value, found ,`},
		{both, `}`, `line 1, column 1: expected a value, found }`},
		{both, `'a'`, `line 1, column 1: expected a value, found ' (U+0027), which belongs in quotes`},
		{both, "[\u00a0]", `line 1, column 2: expected a value or ] in the array that begins at line 1, column 1, found U+00A0, which is not white space here`},
		{both, "[\x01]", `found U+0001`},
		{both, "[😀]", `found 😀 (U+1F600), which belongs in quotes`},
		{dst, `url https://example.org`, `line 1, column 10: expected a key, found :`},

		// What follows the value.
		{both, `[] []`, `line 1, column 4: expected the end of the text after its value, found [`},
		{both, `{}x`, `line 1, column 3: expected the end of the text after its value, found "x"`},
		{both, `{} ,`, `line 1, column 4: expected the end of the text after its value, found ,`},
		{jsn, `1 2`, `line 1, column 3: expected the end of the text after its value, found "2"`},
		{dst, `a 1 }`, `line 1, column 5: expected a key, found }`},
		{dst, `a ,`, `line 1, column 3: expected a value for the key "a", found ,`},
		{dst, `"a"b`, `line 1, column 4: expected white space or a comma before this, found "b"`},
		{dst, `[a"b"]`, `line 1, column 3: expected white space or a comma before this, found a string`},
		{dst, `["a""b"]`, `line 1, column 5: expected white space or a comma before this, found a string`},
		{dst, `{"a""b"}`, `line 1, column 5: expected white space or a comma before this, found a string`},

		// Strings.
		{both, "[\"a\",\n  \"b]", `line 2, column 3: a string begins here and has no closing quote`},
		{both, `"\`, `line 1, column 2: the text ends within an escape`},
		{both, `"a\`, `the text ends within an escape`},
		{both, `"\"`, `line 1, column 1: a string begins here and has no closing quote`},
		{both, "\"a\nb\"", `line 1, column 3: a string has the control character U+000A; write it as \u000a`},
		{both, "\"\\n\x00\"", `line 1, column 4: a string has the control character U+0000`},
		{both, `"é\x"`, `line 1, column 3: unknown escape; expected one of`},
		{both, `"\u12"`, `line 1, column 2: expected four hexadecimal digits after \u`},
		{both, `"\u12G4"`, `expected four hexadecimal digits`},
		{both, `"\u`, `expected four hexadecimal digits`},
		{both, `"\ud800"`, `line 1, column 2: \ud800 is half of a surrogate pair without its other half`},
		{both, `"\udc00"`, `\udc00 is half of a surrogate pair`},
		{both, `"\ud800\ud800"`, `\ud800 is half of a surrogate pair`},
		{both, `"\ud800\u0041"`, `\ud800 is half of a surrogate pair`},
		{both, `"\ud800x"`, `\ud800 is half of a surrogate pair`},
		{both, `{"\ud800":1}`, `line 1, column 3: \ud800 is half of a surrogate pair`},

		// The encoding.
		{both, "\xff", `line 1, column 1: the byte 0xff is not valid UTF-8`},
		{both, "[\"é\ufffd\",\n\"é\ufffd\xc3\"]", `line 2, column 4: the byte 0xc3 is not valid UTF-8`},
		{both, "\"\xed\xa0\x80\"", `line 1, column 2: the byte 0xed is not valid UTF-8`}, // a surrogate
		{both, "\"\xc0\x80\"", `the byte 0xc0 is not valid UTF-8`},                       // an overlong NUL
		{both, "\ufeff{}", `line 1, column 1: the text begins with a byte order mark`},

		// Depth.
		{both, strings.Repeat("[", 129), `line 1, column 129: more than 128 objects and arrays within each other`},
		{both, strings.Repeat(`{"a":`, 129), `line 1, column 641: more than 128`},
		{dst, "a" + strings.Repeat("[", 128), `line 1, column 129: more than 128`},
	} {
		for _, format := range []dust.Format{dust.DUST, dust.JSON} {
			if c.format == dst && format != dust.DUST || c.format == jsn && format != dust.JSON {
				continue
			}
			_, err := dust.Parse([]byte(c.text), format)
			var syntax *dust.SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%.40q as %v: error %v, want a SyntaxError", c.text, format, err)
				continue
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.40q as %v:\n got %v\nwant %s", c.text, format, err, c.want)
			}
			if syntax.Offset < 0 || syntax.Offset > len(c.text) {
				t.Errorf("%.40q as %v: offset %d of %d", c.text, format, syntax.Offset, len(c.text))
			}
		}
	}
}

// An error message repeats only a little of the text, whole characters of it.
func TestErrorMessagesAreShort(t *testing.T) {
	for _, text := range []string{
		`{"` + strings.Repeat("é", 1<<20) + `" 1}`,
		`{"x` + strings.Repeat("é", 1<<20) + `" 1}`, // one byte further, so that the cut falls elsewhere
		strings.Repeat("x", 1<<20),
	} {
		_, err := dust.Parse([]byte(text), dust.JSON)
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("the message has %d bytes", len(err.Error()))
		}
		if strings.ContainsRune(err.Error(), '\ufffd') || strings.Contains(err.Error(), `\x`) {
			t.Errorf("the message has half a character: %v", err)
		}
	}
}

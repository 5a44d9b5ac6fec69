package dust_test

import (
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// parse is dust.Parse for texts that the test knows to be right.
func parse(t testing.TB, text string, format dust.Format) dust.Value {
	t.Helper()
	v, err := dust.Parse([]byte(text), format)
	if err != nil {
		t.Fatalf("Parse(%.200q): %v", text, err)
	}
	return v
}

// Each text on the left is the same value as the JSON on the right, and prints
// as the DUST in the third column.
func TestDUSTMeansTheSameAsItsJSON(t *testing.T) {
	for _, c := range []struct{ text, json, dust string }{
		// The texts of the objects spec.
		{`plugins {objects {}}`, `{"plugins":{"objects":{}}}`, `{plugins {objects {}}}`},
		{`[{name notes}]`, `[{"name":"notes"}]`, `[{name notes}]`},
		{
			`[{name notes} {name hello.txt under 1 digest {#sha256 "95e84da38c"}}]`,
			`[{"name":"notes"},{"name":"hello.txt","under":1,"digest":{"#sha256":"95e84da38c"}}]`,
			`[{name notes} {name hello.txt under 1 digest {#sha256 "95e84da38c"}}]`,
		},
		{`{#sha256 95e84da38c}`, `{"#sha256":"95e84da38c"}`, `{#sha256 "95e84da38c"}`},
		{`{stardust/object/digest null}`, `{"stardust/object/digest":null}`, `{stardust/object/digest null}`},

		// Separators.
		{`{a 1, b 2,}`, `{"a":1,"b":2}`, `{a 1 b 2}`},
		{`{a: 1 b :2 c:3}`, `{"a":1,"b":2,"c":3}`, `{a 1 b 2 c 3}`},
		{"{\n\ta\r\n 1\n}", `{"a":1}`, `{a 1}`},
		{`[1 2,3 , 4]`, `[1,2,3,4]`, `[1 2 3 4]`},
		{`[1[2]{a{b[]}}"x"{}y]`, `[1,[2],{"a":{"b":[]}},"x",{},"y"]`, `[1 [2] {a {b []}} x {} y]`},
		{`{"a"{}"b"[]}`, `{"a":{},"b":[]}`, `{a {} b []}`},
		{`["a" "b","c"]`, `["a","b","c"]`, `[a b c]`},

		// The top level.
		{``, `{}`, `{}`},
		{" \n\t\r ", `{}`, `{}`},
		{`{}`, `{}`, `{}`},
		{` [] `, `[]`, `[]`},
		{`hello`, `"hello"`, `hello`},
		{` "two words" `, `"two words"`, `"two words"`},
		{`7`, `7`, `7`},
		{`true`, `true`, `true`},
		{`null`, `null`, `null`},
		{`true false`, `{"true":false}`, `{"true" false}`},
		{`1 2 3 4,`, `{"1":2,"3":4}`, `{"1" 2 "3" 4}`},
		{`"a" : 1`, `{"a":1}`, `{a 1}`},
		{`a{b c}d[e]`, `{"a":{"b":"c"},"d":["e"]}`, `{a {b c} d [e]}`},

		// Words that are values of JSON, and words that only look like one.
		{`[true false null]`, `[true,false,null]`, `[true false null]`},
		{`[True FALSE nil none trues nullnull]`, `["True","FALSE","nil","none","trues","nullnull"]`, `[True FALSE nil none trues nullnull]`},
		{`["true" "false" "null" "1" "-1.5e3"]`, `["true","false","null","1","-1.5e3"]`, `["true" "false" "null" "1" "-1.5e3"]`},
		{`[01 +1 .5 1. -.5 1e 1e+ -- - 0x10 1_000]`, `["01","+1",".5","1.","-.5","1e","1e+","--","-","0x10","1_000"]`, `["01" "+1" ".5" "1." "-.5" "1e" "1e+" -- - "0x10" "1_000"]`},
		{`[10.0.0.1 2024-12-01 1/2 12% NaN -Infinity]`, `["10.0.0.1","2024-12-01","1/2","12%","NaN","-Infinity"]`, `["10.0.0.1" "2024-12-01" "1/2" "12%" NaN -Infinity]`},
		{`{true 1 null 2 10 3}`, `{"true":1,"null":2,"10":3}`, `{"true" 1 "null" 2 "10" 3}`},
		{`[_-+./#$@%&*=~!?]`, `["_-+./#$@%\u0026*=~!?"]`, `[_-+./#$@%&*=~!?]`},
		{`[.gitignore ../x -v --all @home #tag]`, `[".gitignore","../x","-v","--all","@home","#tag"]`, `[.gitignore ../x -v --all @home #tag]`},
		{`[café 東京 ３]`, `["café","東京","３"]`, `["café" "東京" "３"]`},
		{"[e\u0301]", "[\"e\u0301\"]", "[\"e\u0301\"]"}, // decomposed stays decomposed

		// Numbers keep their digits.
		{`[0 -0 1 -1 1.0 1.50 1E5 1e+5 -0.0e-0]`, `[0,-0,1,-1,1.0,1.50,1E5,1e+5,-0.0e-0]`, `[0 -0 1 -1 1.0 1.50 1E5 1e+5 -0.0e-0]`},
		{`[9223372036854775807 -9223372036854775808]`, `[9223372036854775807,-9223372036854775808]`, `[9223372036854775807 -9223372036854775808]`},
		{`[9223372036854775808 -9223372036854775809]`, `[9223372036854775808,-9223372036854775809]`, `[9223372036854775808 -9223372036854775809]`},
		{`[1e400 1e-400 123456789012345678901234567890.123]`, `[1e400,1e-400,123456789012345678901234567890.123]`, `[1e400 1e-400 123456789012345678901234567890.123]`},

		// Strings.
		{`["" " " "a b" "{" "a:b" "a,b"]`, `[""," ","a b","{","a:b","a,b"]`, `["" " " "a b" "{" "a:b" "a,b"]`},
		{`"\"\\\/\b\f\n\r\t\u0041\u00e9\u0000"`, `"\"\\/\b\f\n\r\tAé\u0000"`, `"\"\\/\b\f\n\r\tAé\u0000"`},
		{`"\ud83d\ude00 \uD83D\uDE00"`, `"😀 😀"`, `"😀 😀"`},
		{"\"\u2028\ufffd\x7f\"", "\"\u2028\ufffd\x7f\"", "\"\u2028\ufffd\x7f\""},
	} {
		fromDUST := parse(t, c.text, dust.DUST)
		fromJSON := parse(t, c.json, dust.JSON)
		if !dust.Equal(fromDUST, fromJSON) {
			t.Errorf("%q is %s, want %s", c.text, dust.AppendJSON(nil, fromDUST), c.json)
		}
		printed := string(dust.AppendDUST(nil, fromDUST))
		if printed != c.dust {
			t.Errorf("%q prints as %s, want %s", c.text, printed, c.dust)
		}
		if again := parse(t, printed, dust.DUST); !dust.Equal(again, fromDUST) {
			t.Errorf("%q prints as %s, which is another value", c.text, printed)
		}
	}
}

// JSON prints the way it is commonly written: nothing is escaped that need not
// be, and numbers and order are those of the text.
func TestJSONPrintsAsItWas(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0`, `1E400`, `""`, `[]`, `{}`, `[[],{}]`,
		`{"z":1,"a":{"y":2,"b":[1,2.0,3e0]},"":null}`,
		`"<&>'é😀"`, `"\b\f\n\r\t\u0001\u001f\"\\/"`,
	} {
		if got := string(dust.AppendJSON(nil, parse(t, text, dust.JSON))); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}

// The objects spec prints results with two spaces for each level.
func TestIndentedJSONIsAsTheSpecPrintsIt(t *testing.T) {
	for text, want := range map[string]string{
		`[entity 1]`: "[\n  \"entity\",\n  1\n]",
		`{entity 1 parent 0 name hello.txt digest {#sha256 "95e8"}}`: `{
  "entity": 1,
  "parent": 0,
  "name": "hello.txt",
  "digest": {
    "#sha256": "95e8"
  }
}`,
		`[{a []} {} [{b {}}]]`: `[
  {
    "a": []
  },
  {},
  [
    {
      "b": {}
    }
  ]
]`,
		`7`: `7`,
	} {
		if got := string(dust.AppendIndented(nil, parse(t, text, dust.DUST))); got != want {
			t.Errorf("%s is printed as\n%s\nwant\n%s", text, got, want)
		}
	}
}

// Parse copies what it keeps: the caller may use the buffer again.
func TestValueDoesNotShareTheText(t *testing.T) {
	text := []byte(`{name hello.txt size 1e5}`)
	v, err := dust.Parse(text, dust.DUST)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = 'x'
	}
	if got := string(dust.AppendDUST(nil, v)); got != `{name hello.txt size 1e5}` {
		t.Errorf("after the text changed the value is %s", got)
	}
}

func TestUnknownFormatIsRefused(t *testing.T) {
	if _, err := dust.Parse([]byte("1"), dust.Format(7)); err == nil {
		t.Error("format 7 was accepted")
	}
}

package dust_test

import (
	"math"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[dust.Kind]string{
		dust.Null: "null", dust.Bool: "a boolean", dust.Int: "an integer", dust.Number: "a number",
		dust.String: "a string", dust.Array: "an array", dust.Object: "an object", 7: "kind 7",
	} {
		if kind.String() != want {
			t.Errorf("kind %d is %q, want %q", int(kind), kind.String(), want)
		}
	}
}

// Each accessor answers for its own kind and refuses every other.
func TestAccessorsAnswerOnlyForTheirKind(t *testing.T) {
	for text, kind := range map[string]dust.Kind{
		`null`: dust.Null, `true`: dust.Bool, `false`: dust.Bool, `0`: dust.Int, `-5`: dust.Int,
		`-0`: dust.Number, `1.0`: dust.Number, `9223372036854775808`: dust.Number,
		`""`: dust.String, `word`: dust.String, `[]`: dust.Array, `[1]`: dust.Array, `{}`: dust.Object, `{a 1}`: dust.Object,
	} {
		v := parse(t, text, dust.DUST)
		if v.Kind() != kind {
			t.Errorf("%s is %v, want %v", text, v.Kind(), kind)
		}
		_, isBool := v.Bool()
		_, isInt := v.Int()
		_, isText := v.Text()
		_, isNumber := v.Literal()
		for what, c := range map[string]struct{ got, want bool }{
			"Bool":    {isBool, kind == dust.Bool},
			"Int":     {isInt, kind == dust.Int},
			"Text":    {isText, kind == dust.String},
			"Literal": {isNumber, kind == dust.Int || kind == dust.Number},
			"Items":   {v.Items() != nil, text == "[1]" || text == "[]"},
			"Members": {v.Members() != nil, text == "{a 1}" || text == "{}"},
		} {
			if c.got != c.want {
				t.Errorf("%s.%s: ok is %v, want %v", text, what, c.got, c.want)
			}
		}
	}
}

func TestValuesBuiltInGoReadBack(t *testing.T) {
	number, ok := dust.NewNumber("1e400")
	if !ok {
		t.Fatal("1e400 is no number")
	}
	v := dust.NewObject(
		dust.Member{Name: "null"},
		dust.Member{Name: "yes", Value: dust.NewBool(true)},
		dust.Member{Name: "least", Value: dust.NewInt(math.MinInt64)},
		dust.Member{Name: "big", Value: number},
		dust.Member{Name: "text", Value: dust.NewString("a \"b\"\n")},
		dust.Member{Name: "empty", Value: dust.NewString("")},
		dust.Member{Name: "items", Value: dust.NewArray(dust.NewInt(1), dust.NewArray(), dust.NewObject())},
	)
	const want = `{"null":null,"yes":true,"least":-9223372036854775808,"big":1e400,"text":"a \"b\"\n","empty":"","items":[1,[],{}]}`
	if got := string(dust.AppendJSON(nil, v)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !dust.Equal(v, parse(t, want, dust.JSON)) {
		t.Error("the value and what its JSON is parsed to differ")
	}
	if m, ok := v.Member("least"); !ok || string(dust.AppendJSON(nil, m)) != "-9223372036854775808" {
		t.Errorf("Member(least) = %s, %v", dust.AppendJSON(nil, m), ok)
	}
	if _, ok := v.Member("none"); ok {
		t.Error("there is a member that was not given")
	}
}

func TestNewNumberTakesOnlyNumbersOfJSON(t *testing.T) {
	for _, literal := range []string{"", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", " 1", "1 ", "--1", "1.e5", "１"} {
		if v, ok := dust.NewNumber(literal); ok {
			t.Errorf("%q became %s", literal, dust.AppendJSON(nil, v))
		}
	}
}

func TestEqualTellsEveryDifference(t *testing.T) {
	texts := []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `1.0`, `10e-1`, `""`, `"0"`, `"a"`, `"b"`, `[]`, `{}`,
		`[1]`, `[2]`, `[1 2]`, `[2 1]`, `{a 1}`, `{a 2}`, `{b 1}`, `{a 1 b 2}`, `{b 2 a 1}`, `[[]]`, `[{}]`,
	}
	for i, a := range texts {
		for j, b := range texts {
			if got := dust.Equal(parse(t, a, dust.DUST), parse(t, b, dust.DUST)); got != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", a, b, got)
			}
		}
	}
}

// What is not UTF-8 still prints as valid text.
func TestBrokenStringsPrintReplaced(t *testing.T) {
	v := dust.NewString("a\xffb\xc3")
	for _, printed := range [][]byte{dust.AppendJSON(nil, v), dust.AppendDUST(nil, v)} {
		if string(printed) != "\"a\ufffdb\ufffd\"" {
			t.Errorf("printed %q", printed)
		}
	}
}

// The database builds a record for every look-up: only the members of its two
// objects are allocated.
func TestBuildingARecordAllocatesLittle(t *testing.T) {
	var kept dust.Value
	if n := testing.AllocsPerRun(100, func() { kept = record(1, "hello.txt", digest) }); n > 2 {
		t.Errorf("%v allocations for a record", n)
	}
	if kept.Kind() != dust.Object {
		t.Error("the record is no object")
	}
}

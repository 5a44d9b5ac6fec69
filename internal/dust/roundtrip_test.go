package dust_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stardustdb/stardust/internal/dust"
)

// values generates values of up to depth containers within each other, rich in
// what the formats treat specially.
func values(depth int) *rapid.Generator[dust.Value] {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[-+.]?[0-9]{1,4}([.][0-9]+)?([eE][-+]?[0-9]+)?`),
		rapid.StringMatching(`[a-z_/#.@-]{1,12}`),
		rapid.StringMatching(`[0-9a-f]{8}`),
		rapid.SampledFrom([]string{"", "true", "false", "null", "\x00", "\u2028", "\ufeff", "\\", `"`, "😀", "a b", "a:b", "{", "]"}),
	)
	literal := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})([.][0-9]{1,5})?([eE][-+]?[0-9]{1,3})?`)
	return rapid.Custom(func(t *rapid.T) dust.Value {
		kinds := []dust.Kind{dust.Object, dust.Array, dust.String, dust.Number, dust.Int, dust.Bool, dust.Null}
		if depth == 0 {
			kinds = kinds[2:]
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case dust.Bool:
			return dust.NewBool(rapid.Bool().Draw(t, "bool"))
		case dust.Int:
			return dust.NewInt(rapid.Int64().Draw(t, "int"))
		case dust.Number:
			v, ok := dust.NewNumber(literal.Draw(t, "number"))
			if !ok {
				t.Fatal("the literal is refused")
			}
			return v
		case dust.String:
			return dust.NewString(text.Draw(t, "text"))
		case dust.Array:
			return dust.NewArray(rapid.SliceOfN(values(depth-1), 0, 5).Draw(t, "items")...)
		case dust.Object:
			names := rapid.SliceOfNDistinct(text, 0, 20, rapid.ID[string]).Draw(t, "names")
			members := make([]dust.Member, len(names))
			for i, name := range names {
				members[i] = dust.Member{Name: name, Value: values(depth-1).Draw(t, "value")}
			}
			return dust.NewObject(members...)
		}
		return dust.Value{}
	})
}

// Whatever is printed in either format, indented or not, is read back as the
// same value, so that documents convert both ways without loss.
func TestConversionLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := dust.NewArray(rapid.SliceOfN(values(3), 4, 8).Draw(t, "items")...)
		if err := survives(v); err != nil {
			t.Fatal(err)
		}
	})
}

// survives prints v in every way and reads it back.
func survives(v dust.Value) error {
	compact := dust.AppendJSON(nil, v)
	for _, c := range []struct {
		name   string
		text   []byte
		format dust.Format
	}{
		{"JSON", compact, dust.JSON},
		{"JSON read as DUST", compact, dust.DUST},
		{"indented JSON", dust.AppendIndented(nil, v), dust.JSON},
		{"DUST", dust.AppendDUST(nil, v), dust.DUST},
	} {
		again, err := dust.Parse(c.text, c.format)
		if err != nil {
			return fmt.Errorf("%s %q is refused: %w", c.name, c.text, err)
		}
		if !dust.Equal(v, again) {
			return fmt.Errorf("%s %q became %q", c.name, c.text, dust.AppendJSON(nil, again))
		}
	}
	return nil
}

// An object needs its outer braces only where it has no members to show.
func TestTopLevelBracesMayBeLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "name")
		v := dust.NewObject(dust.Member{Name: name, Value: values(3).Draw(t, "value")})
		text := dust.AppendDUST(nil, v)
		again, err := dust.Parse(text[1:len(text)-1], dust.DUST)
		if err != nil || !dust.Equal(v, again) {
			t.Fatalf("%s without its braces became %s, %v", text, dust.AppendJSON(nil, again), err)
		}
	})
}

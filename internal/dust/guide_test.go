package dust_test

import (
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/dust"
)

// What docs/dust.md says about words, in its words.
func TestGuideTellsWordsFromNumbers(t *testing.T) {
	for word := range strings.FieldsSeq(`0 -0 10 1.5 1e5`) {
		if kind := parse(t, word, dust.DUST).Kind(); kind != dust.Int && kind != dust.Number {
			t.Errorf("%s is %v", word, kind)
		}
	}
	for word := range strings.FieldsSeq(`01 +1 .5 1. 0x10 10.0.0.1 2024-12-01 95e84da38c NaN True`) {
		if s, ok := parse(t, word, dust.DUST).Text(); !ok || s != word {
			t.Errorf("%s is not a string", word)
		}
	}
	for _, text := range []string{`two words more`, `[https://example.org]`, `[C:\temp]`, `[it's]`, `[😀]`, `["a""b"]`, `[a"b"]`} {
		if v, err := dust.Parse([]byte(text), dust.DUST); err == nil {
			t.Errorf("%s is %s", text, dust.AppendJSON(nil, v))
		}
	}
	// A digest is a word unless it happens to be a number.
	for text, want := range map[string]dust.Kind{
		strings.Repeat("7", 64):                       dust.Number,
		"12e3" + strings.Repeat("4", 60):              dust.Number,
		"0" + strings.Repeat("7", 63):                 dust.String,
		"12e3" + strings.Repeat("4", 59) + "f":        dust.String,
		strings.Repeat("1", 31) + "ee" + "1234567890": dust.String,
	} {
		if kind := parse(t, text, dust.DUST).Kind(); kind != want {
			t.Errorf("%s is %v, want %v", text, kind, want)
		}
	}
}

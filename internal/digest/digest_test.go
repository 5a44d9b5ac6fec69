package digest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/internal/digest"
)

const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestEveryFormComesBack(t *testing.T) {
	d := digest.Of([]byte("hello"))
	if d.String() != hello {
		t.Fatalf("%v, want %s", d, hello)
	}
	for _, text := range []string{hello, strings.ToUpper(hello)} {
		if got, err := digest.Parse(text); err != nil || got != d {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	text, err := d.MarshalText()
	if err != nil || string(text) != hello {
		t.Errorf("text: %s, %v", text, err)
	}
	encoded, err := json.Marshal(d)
	if err != nil || string(encoded) != `{"#sha256":"`+hello+`"}` {
		t.Errorf("JSON: %s, %v", encoded, err)
	}
	for _, text := range []string{string(encoded), `"` + hello + `"`, ` { "#sha256" : "` + hello + `" } `} {
		var got digest.Digest
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != d {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestWhatIsNoDigestIsRefusedAndChangesNothing(t *testing.T) {
	for _, text := range []string{"", hello[1:], hello + "0", strings.Repeat("g", 64), strings.Repeat("0", 1000)} {
		if _, err := digest.Parse(text); !errors.Is(err, digest.ErrMalformed) || len(err.Error()) > 200 {
			t.Errorf("%.70q: %v", text, err)
		}
	}
	quoted := `"` + hello + `"`
	for _, text := range []string{
		`{}`, `[]`, `1`, `null`, `""`, `{"#sha256":1}`, `{"#sha256":{}}`, `{"sha256":` + quoted + `}`,
		`{"#sha256":` + quoted + `,"more":1}`, `{"#sha256":` + quoted + `,"#sha256":` + quoted + `}`,
	} {
		d := digest.Of(nil)
		if err := d.UnmarshalJSON([]byte(text)); !errors.Is(err, digest.ErrMalformed) || d != digest.Of(nil) {
			t.Errorf("%s: %v, %v", text, d, err)
		}
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	f.Add(`{"#sha256":"` + hello + `"}`)
	f.Add(`"` + hello + `"`)
	f.Add(`{"#sha256":["x"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d digest.Digest
		if d.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		encoded, err := json.Marshal(d)
		var again digest.Digest
		if err != nil || again.UnmarshalJSON(encoded) != nil || again != d {
			t.Errorf("%q read as %v does not come back", text, d)
		}
	})
}

package policy

import (
	"encoding/base64"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestFieldsMustBeAsThePolicySays(t *testing.T) {
	p, err := Parse(encode(`{"expiration":"2026-12-03T10:00:00Z","conditions":[{"bucket":"b"},["starts-with","$key","user/"],["eq","$Content-Type","a/b"],["content-length-range","2",5]]}`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 3, 9, 0, 0, 0, time.UTC)
	good := map[string]string{"bucket": "b", "key": "user/x", "content-type": "a/b", "policy": "p", "x-amz-signature": "s", "x-ignore-this": "1"}
	if err := p.Check(good, now); err != nil {
		t.Errorf("good fields: %v", err)
	}
	if p.Check(good, now.Add(time.Hour)) == nil {
		t.Error("it lasts for ever")
	}
	for name, change := range map[string]func(map[string]string){
		"another bucket": func(f map[string]string) { f["bucket"] = "c" },
		"another prefix": func(f map[string]string) { f["key"] = "users" },
		"no type":        func(f map[string]string) { delete(f, "content-type") },
		"an extra field": func(f map[string]string) { f["acl"] = "private" },
	} {
		fields := maps.Clone(good)
		change(fields)
		if p.Check(fields, now) == nil {
			t.Errorf("%s passes", name)
		}
	}
	for n, ok := range map[int64]bool{1: false, 2: true, 5: true, 6: false} {
		if err := p.CheckLength(n); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"expiration":"2026-12-03T10:00:00Z","conditions":[{"bucket":"b"},["eq","$key","a"],["content-length-range",1,2]]}`,
		`{"conditions":[]}`, `{"expiration":true}`, `[]`, `{"expiration":"2026-12-03T10:00:00Z","conditions":[[],null,{}]}`, `{"a":1}`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(encode(text))
		var failure *s3err.Failure
		if err != nil && !errors.As(err, &failure) {
			t.Fatalf("%v is no Failure", err)
		}
		if err != nil {
			return
		}
		if err := p.Check(map[string]string{"key": "a", "secret": "b"}, time.Now()); err == nil {
			// Only a policy that names the field lets it pass.
			named := false
			for _, c := range p.conditions {
				named = named || c.field == "secret"
			}
			if !named {
				t.Errorf("%s allows a field that it does not name", text)
			}
		}
	})
}

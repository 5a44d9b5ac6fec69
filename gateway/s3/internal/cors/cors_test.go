package cors

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	age := 60
	c := &Configuration{Rules: []Rule{
		{Origins: []string{"https://a.example"}, Methods: []string{"GET"}, Headers: []string{"X-Amz-*"}, MaxAge: &age, Expose: []string{"ETag"}},
		{Origins: []string{"https://*.example"}, Methods: []string{"PUT"}},
		{Origins: []string{"*"}, Methods: []string{"HEAD"}},
	}}
	for _, test := range []struct {
		origin, method, headers string
		want                    string // the allowed origin, "" for none
	}{
		{"https://a.example", "GET", "", "https://a.example"},
		{"https://a.example", "GET", "x-amz-date, X-AMZ-Content-Sha256", "https://a.example"},
		{"https://a.example", "GET", "authorization", ""},
		{"https://a.example", "PUT", "", "https://a.example"},
		{"https://a.example", "DELETE", "", ""},
		{"https://b.example", "PUT", "", "https://b.example"},
		{"https://.example", "PUT", "", "https://.example"},
		{"https://b.example.evil", "PUT", "", ""},
		{"https://b.example", "GET", "", ""},
		{"null", "HEAD", "", "*"},
		{"", "HEAD", "", ""},
	} {
		h := http.Header{"Origin": {test.origin}, "Access-Control-Request-Method": {test.method}, "Access-Control-Request-Headers": {test.headers}}
		q, err := Read(h, http.MethodOptions)
		if err != nil {
			t.Fatal(err)
		}
		answer := make(http.Header)
		if grant, ok := c.Grant(q); ok {
			grant.Preflight(answer, q)
		}
		if got := answer.Get("Access-Control-Allow-Origin"); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
		if test.want != "" && !strings.Contains(answer.Get("Vary"), "Origin") {
			t.Errorf("%+v: a cache may give it to another page: %v", test, answer)
		}
	}
	if _, ok := (*Configuration)(nil).Grant(Request{Origin: "https://a.example", Method: "GET"}); ok {
		t.Error("no configuration grants something")
	}
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	good := Rule{Origins: []string{"*"}, Methods: []string{"GET"}}
	if err := (&Configuration{Rules: []Rule{good}}).Check(); err != nil {
		t.Fatal(err)
	}
	if err := Origins("https://a.example").Check(); err != nil {
		t.Errorf("our own: %v", err)
	}
	for want, c := range map[s3err.Row]*Configuration{
		s3err.MalformedXML:          {Rules: []Rule{{Origins: []string{"*"}}}},
		s3err.CORSOriginWildcards:   {Rules: []Rule{good, {Origins: []string{"https://*.*"}, Methods: []string{"GET"}}}},
		s3err.CORSMethodUnsupported: {Rules: []Rule{{Origins: []string{"*"}, Methods: []string{"get"}}}},
		s3err.CORSHeaderInvalid:     {Rules: []Rule{{Origins: []string{"*"}, Methods: []string{"GET"}, Expose: []string{"a\r\nb"}}}},
	} {
		var failure *s3err.Failure
		if err := c.Check(); !errors.As(err, &failure) || failure.Row != want {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
	if (&Configuration{}).Check() == nil || (&Configuration{Rules: make([]Rule, MaxRules+1)}).Check() == nil {
		t.Error("a configuration without rules, or with too many, passes")
	}
}

// FuzzHeaders: whatever a browser and a configuration say, no header of the answer
// holds a line end, and no page gets more than a rule has.
func FuzzHeaders(f *testing.F) {
	f.Add("https://a.example", "GET", "x-amz-date,b", "https://*.example", "x-*")
	f.Add("*", "get", "a b", "*", "*")
	f.Fuzz(func(t *testing.T, origin, method, headers, allowedOrigin, allowedHeader string) {
		c := &Configuration{Rules: []Rule{{Origins: []string{allowedOrigin}, Methods: []string{"GET", "PUT"}, Headers: []string{allowedHeader}}}}
		if c.Check() != nil || strings.ContainsAny(origin, "\r\n") {
			return
		}
		q, err := Read(http.Header{"Origin": {origin}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {headers}}, http.MethodOptions)
		if err != nil {
			return
		}
		grant, ok := c.Grant(q)
		if !ok {
			return
		}
		answer := make(http.Header)
		grant.Preflight(answer, q)
		for name, values := range answer {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n") {
				t.Errorf("%s: %q", name, values)
			}
		}
		if method != "" && method != "GET" && method != "PUT" {
			t.Errorf("the method %q is allowed", method)
		}
		if !fits(allowedOrigin, origin) {
			t.Errorf("%q is allowed by %q", origin, allowedOrigin)
		}
	})
}

func TestTheDocumentComesBack(t *testing.T) {
	var c Configuration
	text := `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><CORSRule><ID>i</ID><AllowedHeader>x</AllowedHeader><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin><MaxAgeSeconds>-1</MaxAgeSeconds></CORSRule></CORSConfiguration>`
	if err := xml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	again, err := xml.Marshal(c)
	if err != nil || len(c.Rules) != 1 || c.Rules[0].MaxAge == nil || !strings.Contains(string(again), "<MaxAgeSeconds>-1<") {
		t.Errorf("%s, %v", again, err)
	}
}

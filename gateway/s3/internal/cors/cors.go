// Package cors decides which pages of other sites may use a bucket.
//
//   - A [Configuration] is a bucket's list of rules, as S3's documents have it.
//   - A [Request] is what a browser says of a page that asks.
//   - A [Grant] is what the page may do, and the headers that tell the browser.
//
// Errors are [s3err.Failure]s. The package knows no store.
package cors

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

const (
	// MaxRules is how many rules a configuration may have.
	MaxRules = 100
	// vary names what an answer depends on.
	vary = "Origin, Access-Control-Request-Headers, Access-Control-Request-Method"
)

// Configuration is the CORS configuration of a bucket.
type Configuration struct {
	XMLName xml.Name `xml:"CORSConfiguration"`
	Rules   []Rule   `xml:"CORSRule"`
}

// Rule allows pages something. The first rule that fits decides.
type Rule struct {
	ID      string   `xml:",omitempty"`
	Headers []string `xml:"AllowedHeader"` // with at most one "*" each
	Methods []string `xml:"AllowedMethod"`
	Origins []string `xml:"AllowedOrigin"` // with at most one "*" each
	Expose  []string `xml:"ExposeHeader"`
	MaxAge  *int     `xml:"MaxAgeSeconds"`
}

// Check returns why a client may not set the configuration.
func (c *Configuration) Check() error {
	if len(c.Rules) == 0 || len(c.Rules) > MaxRules {
		return s3err.MalformedXML.New()
	}
	for _, rule := range c.Rules {
		if len(rule.Origins) == 0 || len(rule.Methods) == 0 {
			return s3err.MalformedXML.New()
		}
		for _, origin := range rule.Origins {
			if strings.Count(origin, "*") > 1 {
				return s3err.CORSOriginWildcards.New(origin)
			}
		}
		for _, method := range rule.Methods {
			if !knownMethod(method) {
				return s3err.CORSMethodUnsupported.New(method)
			}
		}
		for _, header := range slices.Concat(rule.Headers, rule.Expose) {
			if !token(header) || strings.Count(header, "*") > 1 {
				return s3err.CORSHeaderInvalid.New(header)
			}
		}
	}
	return nil
}

// Origins returns the configuration that lets pages of these origins read and write,
// as one rule.
func Origins(origins ...string) *Configuration {
	age := 3000
	return &Configuration{Rules: []Rule{{
		Origins: origins, Headers: []string{"*"}, MaxAge: &age,
		Methods: []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete},
		Expose: []string{
			"ETag", "Content-Range", "X-Amz-Version-Id", "X-Amz-Request-Id", "X-Amz-Id-2", "X-Amz-Mp-Parts-Count",
			"X-Amz-Checksum-Crc32", "X-Amz-Checksum-Crc32c", "X-Amz-Checksum-Crc64nvme", "X-Amz-Checksum-Sha1", "X-Amz-Checksum-Sha256",
		},
	}}}
}

// Request is what a browser says of a page.
type Request struct {
	Origin  string
	Method  string   // that the page wants to use
	Headers []string // that it wants to send
}

// Read reads what a browser says, by the headers of its request; method is that of the
// request. The Origin is "" for one that is not of a page of another site.
func Read(h http.Header, method string) (Request, error) {
	q := Request{Origin: h.Get("Origin"), Method: method}
	if wanted := h.Get("Access-Control-Request-Method"); wanted != "" {
		if !knownMethod(wanted) {
			return q, s3err.CORSRequestMethod.New(wanted)
		}
		q.Method = wanted
	}
	for header := range strings.SplitSeq(h.Get("Access-Control-Request-Headers"), ",") {
		name := strings.TrimSpace(header)
		switch {
		case name == "":
		case !token(name):
			return q, s3err.CORSRequestHeader.New(header)
		default:
			q.Headers = append(q.Headers, strings.ToLower(name))
		}
	}
	return q, nil
}

// Grant is what a page may do.
type Grant struct {
	rule   *Rule
	origin string
}

// Grant returns what the page may do; false for nothing.
func (c *Configuration) Grant(q Request) (Grant, bool) {
	if c == nil || q.Origin == "" {
		return Grant{}, false
	}
	for i := range c.Rules {
		rule := &c.Rules[i]
		at := slices.IndexFunc(rule.Origins, func(pattern string) bool { return fits(pattern, q.Origin) })
		if at < 0 || !slices.Contains(rule.Methods, q.Method) {
			continue
		}
		allowed := func(name string) bool {
			return slices.ContainsFunc(rule.Headers, func(pattern string) bool { return fits(strings.ToLower(pattern), name) })
		}
		if slices.ContainsFunc(q.Headers, func(name string) bool { return !allowed(name) }) {
			continue
		}
		g := Grant{rule: rule, origin: q.Origin}
		if rule.Origins[at] == "*" {
			g.origin = "*"
		}
		return g, true
	}
	return Grant{}, false
}

// fits reports whether a text is as a pattern says, in which "*" stands for anything.
func fits(pattern, text string) bool {
	before, after, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	return len(text) >= len(before)+len(after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

func knownMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete:
		return true
	}
	return false
}

// token reports whether a text can be the name of a header.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

package auth

import (
	"net/url"
	"slices"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

// maxQueryParams bounds the parameters of a query, so that a hostile one costs
// no more than its bytes.
const maxQueryParams = 256

// Query holds the parameters of a request, decoded once, in the order sent.
type Query []Param

// Param is one of them.
type Param struct{ Key, Value string }

// ParseQuery decodes a raw query. A "+" is a space, as in a form.
func ParseQuery(raw string) (Query, error) {
	if raw == "" {
		return nil, nil
	}
	var q Query
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		if len(q) == maxQueryParams {
			return nil, s3err.TooManyParameters.New(maxQueryParams)
		}
		key, value, _ := strings.Cut(pair, "=")
		key, errKey := url.QueryUnescape(key)
		value, errValue := url.QueryUnescape(value)
		if errKey != nil || errValue != nil {
			return nil, s3err.InvalidURIEncoding.New()
		}
		q = append(q, Param{key, value})
	}
	return q, nil
}

// Has reports whether the parameter is there, with or without a value.
func (q Query) Has(key string) bool {
	return slices.ContainsFunc(q, func(p Param) bool { return p.Key == key })
}

// Get returns the first value of the parameter, or "".
func (q Query) Get(key string) string {
	for _, p := range q {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// LookupFold returns the first value of a parameter, whose name is
// compared without regard to case, and whether there is one.
func (q Query) LookupFold(key string) (string, bool) {
	for _, p := range q {
		if strings.EqualFold(p.Key, key) {
			return p.Value, true
		}
	}
	return "", false
}

// appendCanonical appends the query as Signature Version 4 signs it: encoded and
// sorted, without the signature itself when the URL is presigned.
func (q Query) appendCanonical(b []byte, presigned bool) []byte {
	encoded := make([]Param, 0, len(q))
	for _, p := range q {
		if !presigned || p.Key != "X-Amz-Signature" {
			encoded = append(encoded, Param{Escape(p.Key, false), Escape(p.Value, false)})
		}
	}
	slices.SortFunc(encoded, func(x, y Param) int {
		if c := strings.Compare(x.Key, y.Key); c != 0 {
			return c
		}
		return strings.Compare(x.Value, y.Value)
	})
	for i, p := range encoded {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, p.Key...)
		b = append(b, '=')
		b = append(b, p.Value...)
	}
	return b
}

// Escape percent-encodes s as AWS does: all but letters, digits and "-_.~",
// and "/" when slash is true.
func Escape(s string, slash bool) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = unreserved(s[i], slash)
	}
	if clean {
		return s
	}
	return string(appendEscaped(make([]byte, 0, len(s)+16), s, slash))
}

func appendEscaped(b []byte, s string, slash bool) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		if c := s[i]; unreserved(c, slash) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}

func unreserved(c byte, slash bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	case c == '-', c == '_', c == '.', c == '~':
		return true
	}
	return c == '/' && slash
}

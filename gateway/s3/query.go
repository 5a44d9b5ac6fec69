package s3

import (
	"net/url"
	"slices"
	"strings"
)

// maxQueryParams bounds the parameters of a query, so that a hostile one costs
// no more than its bytes.
const maxQueryParams = 256

// query holds the parameters of a request, decoded once, in the order sent.
type query []param

type param struct{ key, value string }

// parseQuery decodes a raw query. A "+" is a space, as in a form.
func parseQuery(raw string) (query, error) {
	if raw == "" {
		return nil, nil
	}
	var q query
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		if len(q) == maxQueryParams {
			return nil, fail("InvalidURI", "The query has more than %d parameters.", maxQueryParams)
		}
		key, value, _ := strings.Cut(pair, "=")
		key, errKey := url.QueryUnescape(key)
		value, errValue := url.QueryUnescape(value)
		if errKey != nil || errValue != nil {
			return nil, fail("InvalidURI", "The query is not correctly percent-encoded.")
		}
		q = append(q, param{key, value})
	}
	return q, nil
}

// has reports whether the parameter is there, with or without a value.
func (q query) has(key string) bool {
	return slices.ContainsFunc(q, func(p param) bool { return p.key == key })
}

// get returns the first value of the parameter, or "".
func (q query) get(key string) string {
	for _, p := range q {
		if p.key == key {
			return p.value
		}
	}
	return ""
}

// lookupFold returns the first value of a parameter, whose name is
// compared without regard to case, and whether there is one.
func (q query) lookupFold(key string) (string, bool) {
	for _, p := range q {
		if strings.EqualFold(p.key, key) {
			return p.value, true
		}
	}
	return "", false
}

// appendCanonical appends the query as Signature Version 4 signs it: encoded and
// sorted, without the signature itself when the URL is presigned.
func (q query) appendCanonical(b []byte, presigned bool) []byte {
	encoded := make([]param, 0, len(q))
	for _, p := range q {
		if !presigned || p.key != "X-Amz-Signature" {
			encoded = append(encoded, param{escape(p.key, false), escape(p.value, false)})
		}
	}
	slices.SortFunc(encoded, func(x, y param) int {
		if c := strings.Compare(x.key, y.key); c != 0 {
			return c
		}
		return strings.Compare(x.value, y.value)
	})
	for i, p := range encoded {
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, p.key...)
		b = append(b, '=')
		b = append(b, p.value...)
	}
	return b
}

// escape percent-encodes s as AWS does: all but letters, digits and "-_.~",
// and "/" when slash is true.
func escape(s string, slash bool) string {
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

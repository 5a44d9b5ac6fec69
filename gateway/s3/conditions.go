package s3

import (
	"net/http"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// conditions are the preconditions of a read, by their values in headers.
type conditions struct {
	ifMatch, ifNoneMatch                 string
	ifModifiedSince, ifUnmodifiedSince   string
	hasIfMatch, hasIfNoneMatch, ofSource bool
}

func readConditions(h http.Header) conditions {
	match, noneMatch := h["If-Match"], h["If-None-Match"]
	return conditions{
		ifMatch: strings.Join(match, ","), hasIfMatch: len(match) > 0,
		ifNoneMatch: strings.Join(noneMatch, ","), hasIfNoneMatch: len(noneMatch) > 0,
		ifModifiedSince: h.Get("If-Modified-Since"), ifUnmodifiedSince: h.Get("If-Unmodified-Since"),
	}
}

// sourceConditions reads the conditions of a copy on its source.
func sourceConditions(header func(string) string) conditions {
	c := conditions{
		ifMatch: header("X-Amz-Copy-Source-If-Match"), ifNoneMatch: header("X-Amz-Copy-Source-If-None-Match"),
		ifModifiedSince: header("X-Amz-Copy-Source-If-Modified-Since"), ifUnmodifiedSince: header("X-Amz-Copy-Source-If-Unmodified-Since"),
		ofSource: true,
	}
	c.hasIfMatch, c.hasIfNoneMatch = c.ifMatch != "", c.ifNoneMatch != ""
	return c
}

// none reports whether there are no conditions.
func (c conditions) none() bool {
	return !c.hasIfMatch && !c.hasIfNoneMatch && c.ifModifiedSince == "" && c.ifUnmodifiedSince == ""
}

// apply sets the conditions in the options of a Store's Get, which knows their
// precedence (RFC 9110, section 13.2.2). Dates that are not valid are ignored,
// as that section says.
func (c conditions) apply(o *objectstore.GetOptions) error {
	if c.hasIfMatch {
		// If-Match compares strongly: a weak ETag matches nothing.
		o.IfMatch = strings.Join(parseETags(c.ifMatch, false), ",")
		if o.IfMatch == "" {
			return s3err.PreconditionFailed.New()
		}
	}
	if c.hasIfNoneMatch {
		o.IfNoneMatch = strings.Join(parseETags(c.ifNoneMatch, true), ",")
	}
	if t, ok := parseHTTPTime(c.ifModifiedSince); ok {
		o.IfModifiedSince = t
	}
	if t, ok := parseHTTPTime(c.ifUnmodifiedSince); ok {
		o.IfUnmodifiedSince = t
	}
	return nil
}

func parseHTTPTime(s string) (time.Time, bool) {
	if s == "" {
		return time.Time{}, false
	}
	t, err := http.ParseTime(s)
	if err != nil {
		t, err = time.Parse(time.RFC3339, s)
	}
	return t, err == nil
}

// parseETags splits a list of ETags and strips their quotes, with which clients
// are careless. Weak ones are left out unless weak is true.
func parseETags(list string, weak bool) []string {
	var tags []string
	for list = strings.TrimSpace(list); list != ""; list = strings.TrimLeft(list, " \t,") {
		isWeak := strings.HasPrefix(list, "W/")
		list = strings.TrimPrefix(list, "W/")
		var tag string
		if inner, quoted := strings.CutPrefix(list, `"`); quoted {
			tag, list, _ = strings.Cut(inner, `"`)
		} else {
			tag, list, _ = strings.Cut(list, ",")
			tag = strings.TrimSpace(tag)
		}
		if tag != "" && (weak || !isWeak) {
			tags = append(tags, tag)
		}
	}
	return tags
}

// putCondition reads the conditions of a write: If-None-Match: * to create, or
// If-Match with the ETag to replace.
func (q *request) putCondition() (objectstore.PutMode, objectstore.UpdateVersion, error) {
	match, noneMatch := q.r.Header.Get("If-Match"), q.r.Header.Get("If-None-Match")
	switch {
	case match == "" && noneMatch == "":
		return objectstore.Overwrite, objectstore.UpdateVersion{}, nil
	case match == "" && strings.TrimSpace(noneMatch) == "*":
		return objectstore.Create, objectstore.UpdateVersion{}, nil
	case match != "" && noneMatch == "":
		if tags := parseETags(match, false); len(tags) == 1 && tags[0] != "*" {
			return objectstore.Update, objectstore.UpdateVersion{ETag: tags[0]}, nil
		}
	}
	if match != "" {
		return 0, objectstore.UpdateVersion{}, unimplemented("If-Match")
	}
	return 0, objectstore.UpdateVersion{}, unimplemented("If-None-Match")
}

// parseRange parses a Range header. Like S3 it ignores several ranges and what
// it does not understand; then the whole object is sent.
func parseRange(header string) *objectstore.Range {
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok {
		return nil
	}
	first, last, ok := strings.Cut(spec, "-")
	if !ok {
		return nil
	}
	start, okStart := parseDigits(first)
	end, okEnd := parseDigits(last)
	switch {
	case okStart && okEnd && start <= end:
		return objectstore.Bounded(start, end+1)
	case okStart && last == "":
		return objectstore.From(start)
	case first == "" && okEnd:
		return objectstore.Suffix(end)
	}
	return nil
}

// parseDigits parses a number of decimal digits alone. Values too great for
// any object are cut to a great one, as ranges allow.
func parseDigits(s string) (int64, bool) {
	const great = 1 << 60
	if s == "" {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = min(n*10+int64(s[i]-'0'), great)
	}
	return n, true
}

package s3

import (
	"context"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	// maxKeys is the most entries of a page of a list.
	maxKeys = 1000
	// maxRune sorts after every other character of a key.
	maxRune = "\U0010FFFF"
	// skipAfter is how many keys of one common prefix are read before a new list
	// begins after them.
	skipAfter = 64
)

// listing asks for one page of the objects of a store.
type listing struct {
	prefix, delimiter string
	after             string // entries sort after it
	limit             int
	extensions        objectstore.Extensions
	// printed says that names are sent as they are, and come back in markers: a
	// page then ends only at a name that XML can hold.
	printed bool
}

// full reports whether a page with n entries, the last of that name, is at its end.
func (l listing) full(n int, last string) bool {
	return n >= l.limit && (!l.printed || document.Holds(last) || n >= l.limit+maxKeys)
}

// checkEnd refuses to end a page at a name that could not come back as a
// marker.
func (l listing) checkEnd(last string) error {
	if l.printed && !document.Holds(last) {
		return s3err.NamesUnprintable.New()
	}
	return nil
}

// page is what a listing found. An entry is an object or a common prefix.
type page struct {
	entries   []entry
	last      string // where the next page begins, when truncated
	truncated bool
}

type entry struct {
	prefix string // of a common prefix; empty for an object
	meta   objectstore.ObjectMeta
}

// name returns what the entry is sorted by.
func (e entry) name() string {
	if e.prefix != "" {
		return e.prefix
	}
	return string(e.meta.Path)
}

// run lists one page. Any string can be the delimiter. The keys of a common
// prefix are not read one by one if there are many.
func (l listing) run(ctx context.Context, store objectstore.Store) (page, error) {
	var p page
	if l.limit == 0 {
		return p, nil
	}
	for offset, more := l.after, true; more; {
		var err error
		if offset, more, err = l.scan(ctx, store, offset, &p); err != nil {
			return page{}, err
		}
	}
	return p, nil
}

// scan adds to the page what sorts after offset, until the page is full or a
// common prefix has so many keys that a new list after them is faster: then it
// returns the offset for that.
func (l listing) scan(ctx context.Context, store objectstore.Store, offset string, p *page) (string, bool, error) {
	skipped := 0
	for meta, err := range store.List(ctx, &objectstore.ListOptions{Prefix: l.prefix, Offset: offset, Extensions: l.extensions}) {
		if err != nil {
			return "", false, err
		}
		e := entry{meta: meta, prefix: l.commonPrefix(string(meta.Path))}
		if e.prefix != "" && (e.prefix <= l.after || e.prefix == p.last) {
			behind := e.prefix + maxRune
			if skipped++; skipped < skipAfter || offset >= behind || len(behind) > objectstore.MaxPathLength {
				continue
			}
			return behind, true, nil
		}
		if l.full(len(p.entries), p.last) {
			p.truncated = true
			return "", false, l.checkEnd(p.last)
		}
		skipped = 0
		p.entries = append(p.entries, e)
		p.last = e.name()
	}
	return "", false, nil
}

// commonPrefix returns the key up to the first delimiter after the prefix, or
// "".
func (l listing) commonPrefix(key string) string {
	if l.delimiter == "" || len(key) < len(l.prefix) {
		return ""
	}
	i := strings.Index(key[len(l.prefix):], l.delimiter)
	if i < 0 {
		return ""
	}
	return key[:len(l.prefix)+i+len(l.delimiter)]
}

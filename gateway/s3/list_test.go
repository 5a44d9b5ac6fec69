package s3

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// wholeListing is what a list means, done the slow way.
func wholeListing(keys []string, prefix, delimiter, after string) []string {
	var names []string
	for _, key := range slices.Sorted(slices.Values(keys)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || key <= after {
			continue
		}
		name := key
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			name = prefix + rest[:i+len(delimiter)]
		}
		if name > after && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// TestPagesAddUpToTheWholeList: whatever the prefix, delimiter, start and page
// size, also where a common prefix has so many keys that the list jumps over
// them, and keys at the very end of a prefix's range.
func TestPagesAddUpToTheWholeList(t *testing.T) {
	store := memory.New(nil)
	keys := []string{"a", "a/", "b//c", "b/", "many", "many0", "z" + maxRune, "m\u00e9", maxRune + maxRune}
	for i := range 3 * skipAfter {
		keys = append(keys, fmt.Sprintf("many/%03d/x", i), fmt.Sprintf("top/%s%03d", maxRune, i))
	}
	for _, key := range keys {
		if _, err := store.Put(t.Context(), objectstore.Path(key), objectstore.Bytes(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"", "many", "many/", "top/", "b/", "none"} {
		for _, delimiter := range []string{"", "/", "00", "//", maxRune} {
			for _, after := range []string{"", "many/", "many/050", "b", "top/"} {
				for _, limit := range []int{1, 2, 7, 1000} {
					want := wholeListing(keys, prefix, delimiter, after)
					var got []string
					l := listing{prefix: prefix, delimiter: delimiter, after: after, limit: limit}
					for {
						p, err := l.run(t.Context(), store)
						if err != nil {
							t.Fatal(err)
						}
						for _, e := range p.entries {
							got = append(got, e.name())
						}
						if !p.truncated {
							break
						}
						l.after = p.last
					}
					if !slices.Equal(got, want) {
						t.Errorf("prefix %q, delimiter %q, after %q, limit %d: %d entries, want %d", prefix, delimiter, after, limit, len(got), len(want))
					}
				}
			}
		}
	}
}

// TestPagesEndAtNamesThatComeBack: names that XML cannot hold are shown otherwise, so
// a page must not end there, lest the next begin elsewhere.
func TestPagesEndAtNamesThatComeBack(t *testing.T) {
	store := memory.New(nil)
	keys := []string{"a", "b\x01", "b\x02", "b\ufffe", "c", "d\ufffd", "e\x1f"}
	for _, key := range keys {
		if _, err := store.Put(t.Context(), objectstore.Path(key), objectstore.Bytes(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	for limit := 1; limit <= len(keys); limit++ {
		var got []string
		for after, more := "", true; more; {
			p, err := listing{after: after, limit: limit, printed: true}.run(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range p.entries {
				got = append(got, e.name())
			}
			if after, more = p.last, p.truncated; more && !document.Holds(after) {
				t.Errorf("a page ends at %q", after)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("pages of %d: %q", limit, got)
		}
	}
	for i := range 2*maxKeys + 1 {
		if _, err := store.Put(t.Context(), objectstore.Path(fmt.Sprintf("f\x01%05d", i)), objectstore.Bytes(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := listing{prefix: "f", limit: 1000, printed: true}.run(t.Context(), store)
	if err == nil || asFailure(err).Row != s3err.NamesUnprintable {
		t.Errorf("a page of such names alone: %v", err)
	}
}

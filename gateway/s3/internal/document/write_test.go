package document

import (
	"encoding/xml"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzNames: whatever a key is, the document that lists it can be read, and shows it
// as it is where Holds says so.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"a", "\x00", "\x01\n\t\r", "&#34;<>\"'", "\ufffd", "\ufffe\uffff", "\xff", "]]>", "é\U0010ffff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		b, err := Marshal(ListObjectsV2{Contents: []Object{{Key: key, ETag: ETag("e"), LastModified: Time(time.Unix(1, 0))}}})
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Contents []struct{ Key, ETag string } }
		if err := xml.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if got := list.Contents[0].Key; Holds(key) != (got == key) && utf8.ValidString(key) || Holds(key) && got != key {
			t.Errorf("%q is shown as %q", key, got)
		}
		if got := list.Contents[0].ETag; got != `"e"` {
			t.Errorf("ETag %s", got)
		}
	})
}

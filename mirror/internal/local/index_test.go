package local

import (
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// A store sends the same Content-Type with every object: it is in memory once.
func TestEntriesShareEqualAttributes(t *testing.T) {
	x := newIndex()
	attributes := func(contentType string) Metadata {
		return Metadata{Attributes: objectstore.Attributes{ContentType: contentType}}
	}
	a, b, c := newEntry(attributes("binary/octet-stream")), newEntry(attributes("binary/octet-stream")), newEntry(attributes("text/plain"))
	x.put("a", a)
	x.put("b", b)
	x.put("c", c)
	if a.Attributes != b.Attributes || a.Attributes == c.Attributes || c.Attributes.ContentType != "text/plain" {
		t.Errorf("attributes %p, %p, %p", a.Attributes, b.Attributes, c.Attributes)
	}
}

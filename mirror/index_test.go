package mirror

import (
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// A store sends the same Content-Type with every object: it is in memory once.
func TestEntriesShareEqualAttributes(t *testing.T) {
	x := newIndex()
	attributes := func(contentType string) metadata {
		return metadata{attributes: objectstore.Attributes{ContentType: contentType}}
	}
	a, b, c := newEntry(attributes("binary/octet-stream")), newEntry(attributes("binary/octet-stream")), newEntry(attributes("text/plain"))
	x.put("a", a)
	x.put("b", b)
	x.put("c", c)
	if a.attributes != b.attributes || a.attributes == c.attributes || c.attributes.ContentType != "text/plain" {
		t.Errorf("attributes %p, %p, %p", a.attributes, b.attributes, c.attributes)
	}
}

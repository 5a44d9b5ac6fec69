package dbstore

import (
	"context"
	"encoding/json"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// kept is what attributes of the database say of an object, as docs/attributes.md
// has them. Null and empty ones are removed.
type kept struct {
	HTTP     *http             `json:"stardust/http"`
	Metadata map[string]string `json:"stardust/metadata"`
	Tags     map[string]string `json:"stardust/tags"`
}

type http struct {
	ContentType        string `json:"contentType,omitempty"`
	ContentEncoding    string `json:"contentEncoding,omitempty"`
	ContentDisposition string `json:"contentDisposition,omitempty"`
	ContentLanguage    string `json:"contentLanguage,omitempty"`
	CacheControl       string `json:"cacheControl,omitempty"`
}

// document returns attributes and tags as a put takes them: missing ones are
// null, so that none of the old object's stay.
func document(a objectstore.Attributes, tags map[string]string) (*stardust.Document, error) {
	a = a.Clone()
	k := kept{Metadata: a.Metadata, Tags: tags}
	h := http{a.ContentType, a.ContentEncoding, a.ContentDisposition, a.ContentLanguage, a.CacheControl}
	if h != (http{}) {
		k.HTTP = &h
	}
	if len(k.Metadata) == 0 {
		k.Metadata = nil
	}
	if len(k.Tags) == 0 {
		k.Tags = nil
	}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	return stardust.Parse(text, stardust.JSON)
}

// attribute reads one attribute of a node; false when it has none of that name.
func attribute(tree stardust.Tree, entity int64, name string) (value stardust.Value, ok bool, err error) {
	d, err := tree.Attributes(entity)
	if err != nil {
		return value, false, err
	}
	all, err := d.Root()
	if err != nil {
		return value, false, err
	}
	value, ok = all.Member(name)
	return value, ok, nil
}

// attributes reads what is kept of a record.
func attributes(tree stardust.Tree, r stardust.Record) (a objectstore.Attributes, tags map[string]string, err error) {
	d, err := tree.Attributes(r.Entity)
	if err != nil {
		return a, nil, err
	}
	text, err := d.JSON()
	if err != nil {
		return a, nil, err
	}
	var k kept
	if json.Unmarshal(text, &k) != nil {
		return a, nil, nil // another program's attribute of another form
	}
	a.Metadata = k.Metadata
	if h := k.HTTP; h != nil {
		a.ContentType, a.ContentEncoding, a.ContentDisposition = h.ContentType, h.ContentEncoding, h.ContentDisposition
		a.ContentLanguage, a.CacheControl = h.ContentLanguage, h.CacheControl
	}
	return a, k.Tags, nil
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	const op = objectstore.OpTags
	if err := check(ctx, path); err != nil {
		return nil, s.fail(op, path, err)
	}
	tree, err := s.view(ctx)
	if err != nil {
		return nil, s.fail(op, path, err)
	}
	record, err := s.find(tree, path)
	if err != nil {
		return nil, s.fail(op, path, err)
	}
	_, tags, err := attributes(tree, record)
	return tags, s.fail(op, path, err)
}

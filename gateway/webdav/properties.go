package webdav

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"strings"

	"golang.org/x/net/webdav"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/attributes"
)

// attribute has the properties that clients define: members named
// "{NAMESPACE}NAME" with their XML.
const attribute = attributes.NameDAV

// property is one of them.
type property struct {
	XML  string `json:"xml"`
	Lang string `json:"lang,omitempty"`
}

var (
	_ webdav.DeadPropsHolder = (*file)(nil)
	_ webdav.DeadPropsHolder = (*newFile)(nil)
)

// DeadProps implements webdav.DeadPropsHolder.
func (f *file) DeadProps() (map[xml.Name]webdav.Property, error) {
	return f.files.properties(f.record)
}

// Patch implements webdav.DeadPropsHolder.
func (f *file) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	return f.files.patch(f.record, patches)
}

// DeadProps implements webdav.DeadPropsHolder.
func (n *newFile) DeadProps() (map[xml.Name]webdav.Property, error) { return nil, nil }

// Patch implements webdav.DeadPropsHolder. A copy is made with the properties of
// its source.
func (n *newFile) Patch(patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	if _, err := n.Stat(); err != nil {
		return nil, err
	}
	return n.files.patch(n.record, patches)
}

// properties returns those of a node. The root and the past have none, since
// their attributes are not read.
func (f *files) properties(record stardust.Record) (map[xml.Name]webdav.Property, error) {
	if record.Entity == 0 || f.grant.At != 0 {
		return nil, nil
	}
	document, err := f.handler.db.Attributes(record.Entity)
	if err != nil {
		return nil, f.fail("properties", record.Name, err)
	}
	defer func() { _ = document.Close() }() // always nil
	text, err := document.JSON()
	if err != nil {
		return nil, f.fail("properties", record.Name, err)
	}
	var all map[string]json.RawMessage
	kept := map[string]property{}
	if json.Unmarshal(text, &all) != nil || json.Unmarshal(all[attribute], &kept) != nil {
		return nil, nil // absent, or of another form
	}
	properties := make(map[xml.Name]webdav.Property, len(kept))
	for key, p := range kept {
		space, local, ok := strings.Cut(strings.TrimPrefix(key, "{"), "}")
		if !ok {
			continue
		}
		name := xml.Name{Space: space, Local: local}
		properties[name] = webdav.Property{XMLName: name, Lang: p.Lang, InnerXML: []byte(p.XML)}
	}
	return properties, nil
}

// patch sets and removes properties, all or none.
func (f *files) patch(record stardust.Record, patches []webdav.Proppatch) ([]webdav.Propstat, error) {
	changes := map[string]any{}
	done := webdav.Propstat{Status: http.StatusOK}
	for _, patch := range patches {
		for _, p := range patch.Props {
			key := "{" + p.XMLName.Space + "}" + p.XMLName.Local
			done.Props = append(done.Props, webdav.Property{XMLName: p.XMLName})
			if patch.Remove {
				changes[key] = nil
			} else {
				changes[key] = property{string(p.InnerXML), p.Lang}
			}
		}
	}
	if record.Entity == 0 {
		done.Status = http.StatusForbidden
		return []webdav.Propstat{done}, nil
	}
	err := f.change(record, attribute, changes)
	switch {
	case errors.Is(err, stardust.StatusInvalidArgument): // too much, or no text
		done.Status = http.StatusInsufficientStorage
	case err != nil:
		return nil, f.fail("properties", record.Name, err)
	}
	return []webdav.Propstat{done}, nil
}

// change merges members into an attribute of a node.
func (f *files) change(record stardust.Record, name string, members any) error {
	text, err := json.Marshal(map[string]any{name: members})
	if err != nil {
		return err
	}
	patch, err := stardust.Parse(text, stardust.JSON)
	if err != nil {
		return err
	}
	defer func() { _ = patch.Close() }() // always nil
	result, err := f.handler.db.Patch(record.Entity, patch, 0)
	if err == nil {
		_ = result.Close() // always nil
	}
	return err
}

package commit

import "github.com/stardustdb/stardust/internal/catalog"

// Note plans an attribute of the root directory, which has no node: something
// about the database or about the commit itself. A nil value removes it.
func (p *Plan) Note(name string, json []byte) {
	if json == nil {
		p.add(catalog.Retract(catalog.Root, name))
		return
	}
	p.add(catalog.Raw(catalog.Root, name, json))
}

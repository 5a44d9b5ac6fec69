package slatedb

import (
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
)

// Resolver finds the objects of the SSTs of a manifest: an SST that an external
// database lists lies under that database's path, every other under the root of
// the manifest's own (RFC 0034, Manifest Processing). It may be used
// concurrently.
type Resolver struct {
	root     objectstore.Path
	external map[ulid.ULID]objectstore.Path
}

// Resolver returns the resolver for a manifest of the database at root.
func (m *Manifest) Resolver(root objectstore.Path) *Resolver {
	r := &Resolver{root: root}
	for i := range m.ExternalDBs {
		e := &m.ExternalDBs[i]
		if r.external == nil {
			r.external = make(map[ulid.ULID]objectstore.Path)
		}
		path := cleanRoot(e.Path)
		for _, id := range e.SSTIDs {
			r.external[id] = path
		}
	}
	return r
}

// Root returns the root of the database that owns the SST.
func (r *Resolver) Root(id ulid.ULID) objectstore.Path {
	if root, ok := r.external[id]; ok {
		return root
	}
	return r.root
}

// SSTPath returns the path of the SST's object.
func (r *Resolver) SSTPath(id ulid.ULID) objectstore.Path { return SSTPath(r.Root(id), id) }

// cleanRoot turns the path of an external database, which the manifest has as
// plain text, into the path that SlateDB makes of it (Path::from of Rust's
// object_store): empty segments are dropped, and bytes that it does not allow
// are percent-encoded. The result has no "." or ".." segments and no control
// characters, whatever the manifest says.
func cleanRoot(text string) objectstore.Path {
	var b strings.Builder
	for segment := range strings.SplitSeq(text, "/") {
		if segment == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('/')
		}
		dots := segment == "." || segment == ".."
		for i := range len(segment) {
			c := segment[i]
			if dots || c < 0x20 || c >= 0x7f || strings.IndexByte("\\{^}%`]\">[~<#|*?", c) >= 0 {
				const digits = "0123456789ABCDEF"
				b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			} else {
				b.WriteByte(c)
			}
		}
	}
	return objectstore.Path(b.String())
}

// Package grant says what a request may do to a database: a Grant, put into the
// request's context by whoever authenticates and obeyed by every handler.
package grant

import (
	"context"
	"strings"
)

// Grant is what a request may do. It must not change once a request has it.
type Grant struct {
	// Name is who asks, for the log; empty when nobody said.
	Name string
	// Write allows changes.
	Write bool
	// Root bounds the request to a directory or file: paths of the request begin
	// there. Names divided by "/"; empty is the whole tree.
	Root string
	// At shows the tree as it was at this revision and nothing else. Zero is the
	// present, and any revision that the request asks for.
	At int64
}

type key struct{}

// With returns a context whose requests have a grant.
func With(ctx context.Context, g *Grant) context.Context {
	return context.WithValue(ctx, key{}, g)
}

// From returns the grant of a context. A context without one may do everything,
// for programs that do their own authentication.
func From(ctx context.Context) *Grant {
	if g, ok := ctx.Value(key{}).(*Grant); ok {
		return g
	}
	return &Grant{Write: true}
}

// Bounded reports whether the grant shows less than the whole database.
func (g *Grant) Bounded() bool { return strings.Trim(g.Root, "/") != "" || g.At != 0 }

// Path returns the path in the tree of a path of the request. Names of a tree are
// never ".." (the database refuses such paths), so that none leads out.
func (g *Grant) Path(path string) string {
	root := strings.Trim(g.Root, "/")
	if root == "" {
		return strings.TrimLeft(path, "/")
	}
	if path = strings.TrimLeft(path, "/"); path == "" {
		return root
	}
	return root + "/" + path
}

// Revision returns the revision to read at when the request asks for one, zero
// being the present. It reports whether the grant allows that.
func (g *Grant) Revision(asked int64) (at int64, ok bool) {
	if g.At == 0 {
		return asked, true
	}
	return g.At, asked == 0 || asked == g.At
}

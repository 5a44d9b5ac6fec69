package dust

import (
	"fmt"
	"slices"
)

// container is an object or array that the parser has not yet closed.
type container struct {
	object bool
	bare   bool // an object without its braces
	start  int  // offset of its bracket
	values int  // where its values begin in parser.values
	names  int  // where its names begin in parser.names
	seen   map[string]struct{}
}

// fewNames is up to how many names an object's names are compared one by one.
const fewNames = 16

// has reports whether name is among names, those of the object so far, and
// notes it for the next call.
func (c *container) has(names []string, name string) bool {
	if len(names) < fewNames {
		return slices.Contains(names, name)
	}
	if c.seen == nil {
		c.seen = make(map[string]struct{}, 2*fewNames)
		for _, n := range names {
			c.seen[n] = struct{}{}
		}
	}
	_, ok := c.seen[name]
	c.seen[name] = struct{}{}
	return ok
}

// closer is the bracket that ends the container.
func (c *container) closer() byte {
	if c.object {
		return '}'
	}
	return ']'
}

// where says which container this is, for a message about text.
func (c *container) where(text string) string {
	noun := "array"
	switch {
	case c.bare:
		return ""
	case c.object:
		noun = "object"
	}
	line, column := position(text, c.start)
	return fmt.Sprintf(" in the %s that begins at line %d, column %d", noun, line, column)
}

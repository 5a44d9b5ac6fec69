package transfer

import "strings"

// Keep says what of a file is kept beyond its content, permissions and time.
type Keep struct {
	Owner  bool // numbers and names of user and group
	Xattrs bool // extended attributes
	Links  bool // which files are hard links of one
}

// String names what is kept.
func (k Keep) String() string {
	var parts []string
	for _, part := range []struct {
		kept bool
		name string
	}{{k.Owner, "owner"}, {k.Xattrs, "xattrs"}, {k.Links, "links"}} {
		if part.kept {
			parts = append(parts, part.name)
		}
	}
	return strings.Join(parts, ",")
}

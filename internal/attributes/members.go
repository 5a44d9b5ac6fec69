package attributes

// Members is a set of members of the attribute's value: those that a writer is
// responsible for, and removes when it does not set them.
type Members uint8

// The members of [File].
const (
	MemberType Members = 1 << iota
	MemberMode
	MemberMTime
	MemberOwner
	MemberXattrs
	MemberLink
	MemberSparse

	// Basic are those that every stat of a file tells.
	Basic = MemberType | MemberMode | MemberMTime
)

// names returns how the members are called in the attribute's value.
func (m Members) names() []string {
	names := make([]string, 0, len(memberNames))
	for i, name := range memberNames {
		if m&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// memberNames are the members' names, in the order of their bits.
var memberNames = [...]string{"type", "mode", "mtime", "owner", "xattrs", "link", "sparse"}

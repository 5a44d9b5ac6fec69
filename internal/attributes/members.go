package attributes

// Members are members of the attribute's value, as a set: those that a writer
// speaks for, and so takes away when it does not name them.
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

	// Basic are those that every look at a file tells.
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

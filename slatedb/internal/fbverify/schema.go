package fbverify

// Kind says what a field of a table holds.
type Kind int

const (
	// Scalar is a number, stored in the table itself.
	Scalar Kind = iota
	// String is UTF-8 text.
	String
	// Scalars is a vector of numbers, such as bytes.
	Scalars
	// Child is a table.
	Child
	// Children is a vector of tables.
	Children
	// OneOf is a union: a table whose type another field names.
	OneOf
)

// A Table describes a table: its name, for messages, and its known fields.
// Descriptions are read only and may be shared. They must not be recursive
// beyond [MaxDepth].
type Table struct {
	Name   string
	Fields []Field
}

// A Field describes a field of a table.
type Field struct {
	Name string
	// ID is the field's place among all fields of its table, from zero. The
	// type of a OneOf is the field with the ID below.
	ID   int
	Kind Kind
	// Size is the number of bytes of a Scalar, or of each of the Scalars.
	Size int
	// Table describes a Child, or each of the Children.
	Table *Table
	// Types describe the tables that a OneOf may hold, by their number. Others
	// are unknown and not looked at.
	Types map[byte]*Table
	// Required makes it an error that the field is absent.
	Required bool
}

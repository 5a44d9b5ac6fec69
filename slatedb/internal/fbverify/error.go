package fbverify

import "fmt"

// Error says what is wrong with a buffer and where.
type Error struct {
	// Field is the way from the root to what is wrong, such as
	// "Manifest.l0[3].id".
	Field string
	// Offset is the place in the buffer, in bytes.
	Offset int
	// Reason says what is wrong there.
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at offset %d: %s", e.Field, e.Offset, e.Reason)
}

// within returns e as seen from the table or vector above. Paths are put
// together only when there is an error.
func (e *Error) within(parent string) *Error {
	e.Field = parent + e.Field
	return e
}

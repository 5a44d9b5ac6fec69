package stardust

import (
	"strings"
	"unicode/utf8"
)

// MaxNameLength is the greatest length of a node's name, in bytes.
const MaxNameLength = 4096

// checkName holds names to the objects spec: non-empty UTF-8 without "/" or
// NUL, not "." or "..", at most MaxNameLength bytes.
func checkName(name string) *Error {
	switch {
	case name == "":
		return invalid("name: empty")
	case len(name) > MaxNameLength:
		return invalid("name: %s is longer than %d bytes", shorten(name), MaxNameLength)
	case name == "." || name == "..":
		return invalid("name: %q is reserved", name)
	case strings.ContainsAny(name, "/\x00"):
		return invalid(`name: %s contains "/" or NUL`, shorten(name))
	case !utf8.ValidString(name):
		return invalid("name: %s is not valid UTF-8", shorten(name))
	}
	return nil
}

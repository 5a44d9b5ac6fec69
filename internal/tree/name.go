package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxNameLength is the greatest length of a node's name, in bytes.
const MaxNameLength = 4096

// CheckName holds a name to the objects spec: non-empty UTF-8 without "/" or
// NUL, not "." or "..", at most MaxNameLength bytes. It returns a Refusal.
func CheckName(name string) error {
	switch {
	case name == "":
		return Refuse(Invalid, "name: empty")
	case len(name) > MaxNameLength:
		return Refuse(Invalid, "name: %s is longer than %d bytes", Quote(name), MaxNameLength)
	case name == "." || name == "..":
		return Refuse(Invalid, "name: %q is reserved", name)
	case strings.ContainsAny(name, "/\x00"):
		return Refuse(Invalid, `name: %s contains "/" or NUL`, Quote(name))
	case !utf8.ValidString(name):
		return Refuse(Invalid, "name: %s is not valid UTF-8", Quote(name))
	}
	return nil
}

// Quote quotes a caller's text for a message, so that it stays one short line
// whatever the caller sent.
func Quote(s string) string {
	if len(s) > longest {
		return fmt.Sprintf("%q… (%d bytes)", s[:longest], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// Short is Quote without quotes, for text that needs none, such as a number.
func Short(s string) string {
	if len(s) > longest {
		return fmt.Sprintf("%s… (%d bytes)", s[:longest], len(s))
	}
	return s
}

// longest is how much of a caller's text a message shows, in bytes.
const longest = 80

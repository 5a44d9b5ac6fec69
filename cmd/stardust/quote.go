package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable returns s with escapes for everything that could move a cursor,
// change a color or break a line, and for bytes that are not UTF-8. Messages go
// through it.
func printable(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if isPlain(r, size) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.Quote(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// quote returns a name for a terminal: as it is if nothing about it is unclear,
// otherwise quoted with escapes.
func quote(name string) string {
	if name != "" && plain(name) && !strings.ContainsAny(name, `"\`) && strings.TrimSpace(name) == name {
		return name
	}
	return strconv.Quote(name)
}

func plain(s string) bool {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isPlain(r, size) {
			return false
		}
		i += size
	}
	return true
}

func isPlain(r rune, size int) bool {
	return (r != utf8.RuneError || size > 1) && strconv.IsPrint(r)
}

// name returns a name or path for a listing: quoted on a terminal, as it is in a
// pipe, where programs read it.
func (e *env) name(s string) string {
	if e.outTerminal {
		return quote(s)
	}
	return s
}

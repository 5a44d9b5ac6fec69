package dust

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SyntaxError says where a text breaks the rules of its format, and how.
type SyntaxError struct {
	// Offset is where in the text, in bytes from 0.
	Offset int
	// Line and Column are the same place, from 1. Lines end with a line feed;
	// columns count characters, a tab being one.
	Line, Column int
	// Message says what is wrong or what was expected, without the place.
	Message string
}

// Error returns the place and the message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// syntaxError returns the error at offset in text. It counts the lines only
// now, so that texts without errors need no counting.
func syntaxError(text string, offset int, format string, args ...any) *SyntaxError {
	line, column := position(text, offset)
	return &SyntaxError{Offset: offset, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// position returns the line and column of offset in text.
func position(text string, offset int) (line, column int) {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// quoteLimit bounds how much of a text an error message repeats, in bytes.
const quoteLimit = 40

// quote returns s in quotes for a message, cut when it is long.
func quote(s string) string {
	if len(s) <= quoteLimit {
		return strconv.Quote(s)
	}
	cut := quoteLimit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "..."
}

// found says what stands at offset in text, for a message.
func found(text string, offset int) string {
	if offset == len(text) {
		return "found the end of the text"
	}
	if n := wordLength(text[offset:]); n > 0 {
		return "found " + quote(text[offset:offset+n])
	}
	switch r, _ := utf8.DecodeRuneInString(text[offset:]); {
	case r == '"':
		return "found a string"
	case strings.ContainsRune("{}[],:", r):
		return "found " + string(r)
	case unicode.IsGraphic(r) && !unicode.IsSpace(r):
		return fmt.Sprintf("found %c (%U), which belongs in quotes", r, r)
	default:
		return fmt.Sprintf("found %U, which is not white space here", r)
	}
}

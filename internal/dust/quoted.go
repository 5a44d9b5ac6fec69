package dust

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads the string whose opening quote is next. The result is a part of
// the text when it has no escapes.
func (p *parser) quoted() (string, error) {
	start := p.pos
	rest := p.text[start+1:]
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '"':
			p.pos = start + 1 + i + 1
			return rest[:i], nil
		case c == '\\' || c < ' ':
			return p.escapedString(start, i)
		}
	}
	return "", p.unclosed(start)
}

// escapedString reads the string that begins with a quote at start and is
// plain for the first plain bytes after it.
func (p *parser) escapedString(start, plain int) (string, error) {
	var s strings.Builder
	from, i := start+1, start+1+plain // text[from:i] is yet to be copied
	for i < len(p.text) {
		switch c := p.text[i]; {
		case c == '"':
			s.WriteString(p.text[from:i])
			p.pos = i + 1
			return s.String(), nil
		case c == '\\':
			s.WriteString(p.text[from:i])
			r, size, err := p.escape(i)
			if err != nil {
				return "", err
			}
			s.WriteRune(r)
			i += size
			from = i
		case c < ' ':
			return "", p.fail(i, "a string has the control character U+%04X; write it as \\u%04x", c, c)
		default:
			i++
		}
	}
	return "", p.unclosed(start)
}

func (p *parser) unclosed(start int) error {
	return p.fail(start, "a string begins here and has no closing quote")
}

// escape returns the character that the escape at offset stands for, and the
// length of the escape.
func (p *parser) escape(offset int) (rune, int, error) {
	if offset+1 == len(p.text) {
		return 0, 0, p.fail(offset, "the text ends within an escape")
	}
	switch c := p.text[offset+1]; c {
	case '"', '\\', '/':
		return rune(c), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		return p.unicodeEscape(offset)
	}
	return 0, 0, p.fail(offset, `unknown escape; expected one of \" \\ \/ \b \f \n \r \t \uXXXX`)
}

// unicodeEscape is escape for \uXXXX, or two of them for a character beyond
// U+FFFF.
func (p *parser) unicodeEscape(offset int) (rune, int, error) {
	const size = len(`\uXXXX`)
	r, ok := hex4(p.text[offset:])
	if !ok {
		return 0, 0, p.fail(offset, `expected four hexadecimal digits after \u`)
	}
	if !utf16.IsSurrogate(r) {
		return r, size, nil
	}
	if low, ok := hex4(p.text[offset+size:]); ok {
		if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
			return both, 2 * size, nil
		}
	}
	return 0, 0, p.fail(offset, `\u%04x is half of a surrogate pair without its other half`, r)
}

// hex4 returns the number that s, which begins with \uXXXX, has there.
func hex4(s string) (rune, bool) {
	if len(s) < len(`\uXXXX`) || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

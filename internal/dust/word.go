package dust

import (
	"unicode"
	"unicode/utf8"
)

// isWordByte reports whether an ASCII character may be in a word.
func isWordByte(c byte) bool {
	switch c {
	case '_', '-', '+', '.', '/', '#', '$', '@', '%', '&', '*', '=', '~', '!', '?':
		return true
	}
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// wordLength returns the length of the word that s begins with, 0 for none.
func wordLength(s string) int {
	i := 0
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			if !isWordByte(s[i]) {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			break
		}
		i += size
	}
	return i
}

// likeComment reports whether a word in the place of a key is what begins a comment
// elsewhere.
func likeComment(s string) bool { return s == "#" || len(s) > 1 && s[:2] == "//" }

// isBare reports whether the printer writes the string s as a word. It is
// stricter than the grammar: it quotes what a reader might take for a number,
// and every letter outside ASCII, because which of those are letters changes
// with each version of Unicode.
func isBare(s string) bool {
	if s == "" || s == "true" || s == "false" || s == "null" || likeComment(s) {
		return false
	}
	signs := true
	for i := range len(s) {
		c := s[i]
		if !isWordByte(c) {
			return false
		}
		if signs && '0' <= c && c <= '9' {
			return false
		}
		signs = signs && (c == '+' || c == '-' || c == '.')
	}
	return true
}

// constant returns the value that a word names in both formats.
func constant(word string) (Value, bool) {
	switch word {
	case "null":
		return Value{}, true
	case "true":
		return NewBool(true), true
	case "false":
		return NewBool(false), true
	}
	return NewNumber(word)
}

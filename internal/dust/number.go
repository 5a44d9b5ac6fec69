package dust

import (
	"strconv"
	"strings"
)

// isNumber reports whether s is a number as RFC 8259 writes it:
//
//	number = ["-"] ( "0" | "1"-"9" { digit } ) [ "." digit { digit } ]
//	         [ ("e" | "E") ["+" | "-"] digit { digit } ]
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return s == ""
}

// digits returns how many decimal digits s begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}

// number returns the value of a literal that isNumber accepts. Only an integer
// that prints as the same literal becomes an Int, so -0 stays what it is.
func number(literal string) Value {
	const longest = len("-9223372036854775808")
	if len(literal) <= longest && literal != "-0" {
		if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return NewInt(i)
		}
	}
	v := NewString(literal)
	return Value{num: v.num, ref: literalRef(v.ref.(textRef))}
}

// appendLiteral appends the number v to dst.
func appendLiteral(dst []byte, v Value) []byte {
	if i, ok := v.Int(); ok {
		return strconv.AppendInt(dst, i, 10)
	}
	literal, _ := v.Literal()
	return append(dst, literal...)
}

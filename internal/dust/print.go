package dust

import "unicode/utf8"

// AppendJSON appends v to dst as JSON without white space.
func AppendJSON(dst []byte, v Value) []byte {
	p := printer{dst: dst, colon: ":", comma: ","}
	p.value(v)
	return p.dst
}

// AppendIndented appends v to dst as JSON with each member and item on a line
// of its own, indented by two spaces for each container around it. No line
// feed follows the value.
func AppendIndented(dst []byte, v Value) []byte {
	p := printer{dst: dst, colon: ": ", comma: ",", lines: true}
	p.value(v)
	return p.dst
}

// AppendDUST appends v to dst as DUST on one line, with single spaces between
// items, and words without quotes where nothing else could be read.
func AppendDUST(dst []byte, v Value) []byte {
	p := printer{dst: dst, colon: " ", comma: " ", words: true}
	p.value(v)
	return p.dst
}

// printer appends values to dst. It recurses, as deep as the value is, which
// is at most MaxDepth for one that was parsed.
type printer struct {
	dst          []byte
	colon, comma string
	lines        bool // one item a line
	words        bool // no quotes where none are needed
	depth        int
}

func (p *printer) value(v Value) {
	switch v.Kind() {
	case Null:
		p.dst = append(p.dst, "null"...)
	case Bool:
		if b, _ := v.Bool(); b {
			p.dst = append(p.dst, "true"...)
		} else {
			p.dst = append(p.dst, "false"...)
		}
	case Int, Number:
		p.dst = appendLiteral(p.dst, v)
	case String:
		s, _ := v.Text()
		p.text(s)
	case Array:
		p.dst = append(p.dst, '[')
		p.depth++
		for i, item := range v.Items() {
			p.separate(i)
			p.value(item)
		}
		p.end(len(v.Items()), ']')
	case Object:
		p.dst = append(p.dst, '{')
		p.depth++
		for i, m := range v.Members() {
			p.separate(i)
			p.text(m.Name)
			p.dst = append(p.dst, p.colon...)
			p.value(m.Value)
		}
		p.end(len(v.Members()), '}')
	}
}

// separate goes before item i of a container.
func (p *printer) separate(i int) {
	if i > 0 {
		p.dst = append(p.dst, p.comma...)
	}
	p.newline()
}

// end closes a container of count items.
func (p *printer) end(count int, bracket byte) {
	p.depth--
	if count > 0 {
		p.newline()
	}
	p.dst = append(p.dst, bracket)
}

func (p *printer) newline() {
	if !p.lines {
		return
	}
	p.dst = append(p.dst, '\n')
	for range p.depth {
		p.dst = append(p.dst, "  "...)
	}
}

func (p *printer) text(s string) {
	if p.words && isBare(s) {
		p.dst = append(p.dst, s...)
		return
	}
	p.dst = appendString(p.dst, s)
}

// appendString appends s in quotes. It escapes what RFC 8259 says must be, and
// writes bytes that are not UTF-8 as U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0 // s[from:i] is yet to be copied
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

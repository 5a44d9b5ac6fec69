package dust

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse returns the value that text writes in format, or a [*SyntaxError].
// It makes one copy of text, which the strings of the value share; the caller
// may reuse text at once.
func Parse(text []byte, format Format) (Value, error) {
	if format != DUST && format != JSON {
		return Value{}, fmt.Errorf("dust: unknown format %d", format)
	}
	p := parser{text: string(text), strict: format == JSON, wordEnd: -1}
	if err := p.checkEncoding(); err != nil {
		return Value{}, err
	}
	return p.parse()
}

// parser reads one text. It keeps the objects and arrays that are open in a
// slice of its own rather than on the stack, and the values in all of them in
// one more, from which it copies them when their container closes: so each
// container is allocated once, in its exact size.
//
// Both formats share it: strict leaves out what only DUST has.
type parser struct {
	text    string
	pos     int
	strict  bool
	wordEnd int // where the last string or word ended

	open   []container
	values []Value  // of the open containers, outermost first
	names  []string // of the members of the open objects, likewise
}

func (p *parser) fail(offset int, format string, args ...any) error {
	return syntaxError(p.text, offset, format, args...)
}

// checkEncoding refuses what is not UTF-8, so that nothing else has to look.
func (p *parser) checkEncoding() error {
	if strings.HasPrefix(p.text, "\ufeff") {
		return p.fail(0, "the text begins with a byte order mark; save it as UTF-8 without one")
	}
	if utf8.ValidString(p.text) {
		return nil
	}
	bad := strings.IndexFunc(p.text, func(r rune) bool { return r == utf8.RuneError })
	for strings.HasPrefix(p.text[bad:], "\ufffd") { // the character itself, not a bad byte
		bad += len("\ufffd")
		bad += strings.IndexFunc(p.text[bad:], func(r rune) bool { return r == utf8.RuneError })
	}
	return p.fail(bad, "the byte 0x%02x is not valid UTF-8", p.text[bad])
}

func (p *parser) parse() (Value, error) {
	p.space()
	if !p.strict && p.isBareObject() {
		p.open = append(p.open, container{object: true, bare: true})
	} else if err := p.value(); err != nil {
		return Value{}, err
	}
	for len(p.open) > 0 {
		more, err := p.next()
		if err == nil && more {
			err = p.value()
		}
		if err != nil {
			return Value{}, err
		}
		if !more {
			p.close()
		}
	}
	if p.space(); p.pos < len(p.text) {
		return Value{}, p.fail(p.pos, "expected the end of the text after its value, %s", p.found())
	}
	return p.values[0], nil
}

// isBareObject reports whether the text is an object without its braces: it is
// empty, or goes on after a first string or word.
func (p *parser) isBareObject() bool {
	if p.pos == len(p.text) {
		return true
	}
	look := parser{text: p.text, pos: p.pos}
	if look.peek() != '"' {
		look.word()
	} else if _, err := look.quoted(); err != nil {
		return false // reading it as a value will say why
	}
	end := look.pos
	look.space()
	return end > p.pos && look.pos < len(look.text)
}

// next moves to the next value of the innermost open container, past the
// separator and, in an object, the key. It returns false when the container
// ends instead.
func (p *parser) next() (bool, error) {
	c := p.innermost()
	first := len(p.values) == c.values
	p.space()
	comma := -1
	if !first && p.peek() == ',' {
		comma = p.pos
		p.pos++
		p.space()
	}
	if c.bare && p.pos == len(p.text) {
		return false, nil
	}
	if !c.bare && p.peek() == c.closer() {
		if p.strict && comma >= 0 {
			return false, p.fail(comma, "a comma before %c, which JSON does not have", c.closer())
		}
		p.pos++
		return false, nil
	}
	if p.strict && !first && comma < 0 {
		return false, p.fail(p.pos, "expected a comma or %c, %s%s", c.closer(), p.found(), c.where(p.text))
	}
	if err := p.apart(); err != nil {
		return false, err
	}
	if c.object {
		return true, p.key(c)
	}
	return true, nil
}

// key reads a key of c, and what separates it from its value.
func (p *parser) key(c *container) error {
	start := p.pos
	var name string
	if p.peek() == '"' {
		s, err := p.quoted()
		if err != nil {
			return err
		}
		name = s
	} else if !p.strict {
		name = p.word()
		if likeComment(name) {
			return p.fail(start, "DUST has no comments; put quotes around %s to have a key of that name", name)
		}
	}
	if p.pos == start {
		return p.fail(start, "expected %s, %s%s", p.wantedKey(c), p.found(), c.where(p.text))
	}
	if c.has(p.names[c.names:], name) {
		return p.fail(start, "the key %s appears twice in one object", quote(name))
	}
	p.names = append(p.names, name)
	p.wordEnd = p.pos
	p.space()
	if p.peek() == ':' {
		p.pos++
		p.space()
		return nil
	}
	if p.strict {
		return p.fail(p.pos, "expected a colon after the key %s, %s", quote(name), p.found())
	}
	return p.apart()
}

// value reads a value that is whole at once, or opens a container.
func (p *parser) value() error {
	start := p.pos
	switch c := p.peek(); c {
	case '{', '[':
		if len(p.open) == MaxDepth {
			return p.fail(start, "more than %d objects and arrays within each other", MaxDepth)
		}
		p.pos++
		p.open = append(p.open, container{object: c == '{', start: start, values: len(p.values), names: len(p.names)})
		return nil
	case '"':
		s, err := p.quoted()
		if err != nil {
			return err
		}
		p.values = append(p.values, NewString(s))
	default:
		word := p.word()
		if word == "" {
			return p.fail(start, "expected %s, %s", p.wantedValue(), p.found())
		}
		v, ok := constant(word)
		if !ok && p.strict {
			return p.fail(start, "expected %s, found %s, which is no value in JSON without quotes", p.wantedValue(), quote(word))
		}
		if !ok {
			v = NewString(word)
		}
		p.values = append(p.values, v)
	}
	p.wordEnd = p.pos
	return nil
}

// close makes a value of the innermost open container.
func (p *parser) close() {
	c := p.innermost()
	values := p.values[c.values:]
	var v Value
	if c.object {
		members := make([]Member, len(values))
		for i, name := range p.names[c.names:] {
			members[i] = Member{name, values[i]}
		}
		p.names = p.names[:c.names]
		v = NewObject(members...)
	} else {
		v = NewArray(append(make([]Value, 0, len(values)), values...)...)
	}
	p.values = append(p.values[:c.values], v)
	*c = container{} // lets go of the names it has seen
	p.open = p.open[:len(p.open)-1]
}

func (p *parser) innermost() *container { return &p.open[len(p.open)-1] }

// wantedKey says what may stand in the place of a key of c, for a message.
func (p *parser) wantedKey(c *container) string {
	key := "a key"
	if p.strict {
		key = "a key in quotes"
	}
	if c.bare || p.strict && len(p.values) > c.values {
		return key
	}
	return key + " or }"
}

// wantedValue says what may stand in the place of a value, for a message.
func (p *parser) wantedValue() string {
	if len(p.open) == 0 {
		return "a value"
	}
	c := p.innermost()
	if c.object {
		return "a value for the key " + quote(p.names[len(p.names)-1])
	}
	if p.strict && len(p.values) > c.values {
		return "a value" + c.where(p.text)
	}
	return "a value or ]" + c.where(p.text)
}

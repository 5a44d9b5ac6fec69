package dust

// space moves past white space.
func (p *parser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end of the text.
func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// word reads the word that is next, "" when there is none.
func (p *parser) word() string {
	start := p.pos
	p.pos += wordLength(p.text[start:])
	return p.text[start:p.pos]
}

// apart refuses a string or word that follows the last one with nothing
// between them, which is more likely a lost quote than two items.
func (p *parser) apart() error {
	if p.pos == p.wordEnd && (p.peek() == '"' || wordLength(p.text[p.pos:]) > 0) {
		return p.fail(p.pos, "expected white space or a comma before this, %s", p.found())
	}
	return nil
}

// found says what is next, for a message.
func (p *parser) found() string { return found(p.text, p.pos) }

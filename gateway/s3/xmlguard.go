package s3

import (
	"bytes"
	"errors"
	"io"
)

const (
	// maxToken bounds a tag, with its attributes, and all text between two tags,
	// comments included. A key has at most 1024 bytes, which escapes can make
	// ten times as long.
	maxToken = 16 << 10
	// maxDepth bounds the nesting of elements.
	maxDepth = 10
)

// xmlGuard passes an XML document on and ends it with an error where it would
// cost its reader more memory than a small multiple of maxToken: encoding/xml
// holds a tag with all its attributes, a text, and the names of open elements.
// It need not tell what is well-formed: what it misreads, encoding/xml refuses.
type xmlGuard struct {
	r        io.Reader
	elements int // how many more may begin

	state guardState
	token int    // bytes of the current tag, or since the latest one
	tail  []byte // the latest bytes of the current token, at most len("<![CDATA[")
	quote byte   // inside an attribute's value
	depth int
	err   error
}

type guardState int

const (
	inText guardState = iota
	afterAngle
	afterBang // "<!" and perhaps more
	inStartTag
	inEndTag
	inComment
	inCDATA
	inInstruction
)

var (
	errTooLarge  = errors.New("a tag or text is too long")
	errTooMany   = errors.New("too many elements, or nested too deep")
	errDirective = errors.New("a document type declaration")
)

// Read implements io.Reader.
func (g *xmlGuard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.r.Read(p)
	for i, c := range p[:n] {
		if g.err = g.next(c); g.err != nil {
			return i, g.err
		}
	}
	return n, err
}

// next takes one more byte of the document.
func (g *xmlGuard) next(c byte) error {
	if g.token++; g.token > maxToken {
		return errTooLarge
	}
	switch g.state {
	case inText:
		if c == '<' {
			g.state = afterAngle
		}
		return nil
	case afterAngle:
		return g.begin(c)
	case inStartTag:
		return g.inStart(c)
	case inEndTag:
		if c == '>' {
			g.depth--
			g.state, g.token = inText, 0
		}
		return nil
	}
	g.tail = append(g.tail, c)
	switch g.state {
	case afterBang:
		switch rest := string(g.tail); {
		case rest == "--":
			g.enter(inComment)
		case rest == "[CDATA[":
			g.enter(inCDATA)
		case rest != "-" && !bytes.HasPrefix([]byte("[CDATA["), g.tail):
			return errDirective
		}
	case inComment:
		g.leaveAt("-->")
	case inCDATA:
		g.leaveAt("]]>")
	case inInstruction:
		g.leaveAt("?>")
	}
	return nil
}

// begin takes the byte after "<".
func (g *xmlGuard) begin(c byte) error {
	switch c {
	case '!':
		g.enter(afterBang)
	case '?':
		g.enter(inInstruction)
	case '/':
		g.enter(inEndTag)
	default:
		if g.elements--; g.elements < 0 || g.depth == maxDepth {
			return errTooMany
		}
		g.enter(inStartTag)
		g.token, g.quote = 1, 0
	}
	return nil
}

func (g *xmlGuard) inStart(c byte) error {
	switch {
	case g.quote != 0:
		if c == g.quote {
			g.quote = 0
		}
	case c == '"', c == '\'':
		g.quote = c
	case c == '>':
		if !bytes.HasSuffix(g.tail, []byte("/")) {
			g.depth++
		}
		g.state, g.token = inText, 0
	}
	g.tail = append(g.tail[:0], c)
	return nil
}

func (g *xmlGuard) enter(state guardState) { g.state, g.tail = state, g.tail[:0] }

// leaveAt ends a comment or the like where its end is read. The text around it
// counts on.
func (g *xmlGuard) leaveAt(end string) {
	if bytes.HasSuffix(g.tail, []byte(end)) {
		g.enter(inText)
	} else if len(g.tail) > len(end) {
		g.tail = append(g.tail[:0], g.tail[len(g.tail)-len(end):]...)
	}
}

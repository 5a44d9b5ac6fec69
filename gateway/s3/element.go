package s3

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

const (
	// maxDocument bounds an XML body in bytes: 1000 keys of 1024 bytes, each
	// escaped at its worst, or 10,000 parts with a checksum each.
	maxDocument = 8 << 20
	// maxDepth bounds the nesting of elements.
	maxDepth = 10
	// maxElements bounds the elements of a document.
	maxElements = 120_000
)

// element is an element of an XML body. Namespaces and attributes are ignored,
// as S3 ignores them.
type element struct {
	name     string
	text     string // the character data directly inside
	children []element
}

// child returns the text of the first child of that name, without the spaces
// around it.
func (e *element) child(name string) string {
	text, _ := e.find(name)
	return strings.TrimSpace(text)
}

// childElement returns the first child of that name, or nil.
func (e *element) childElement(name string) *element {
	for i := range e.children {
		if e.children[i].name == name {
			return &e.children[i]
		}
	}
	return nil
}

// find returns the text of the first child of that name as it is.
func (e *element) find(name string) (string, bool) {
	for i := range e.children {
		if e.children[i].name == name {
			return e.children[i].text, true
		}
	}
	return "", false
}

func malformedXML(err error) *Failure {
	return &Failure{
		Code:    "MalformedXML",
		Message: "The XML you provided was not well-formed or did not validate against our published schema.",
		Err:     err,
	}
}

// parseDocument parses a hostile XML body to its end, with the root element it
// must have. Memory is bounded by a small multiple of maxDocument.
func parseDocument(r io.Reader, root string) (*element, error) {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	p := parser{decoder: xml.NewDecoder(limited)}
	e, err := p.document()
	if limited.N <= 0 {
		return nil, malformedXML(errors.New("document too long"))
	}
	if err != nil {
		var failure *Failure
		if errors.As(err, &failure) {
			return nil, failure
		}
		return nil, malformedXML(err)
	}
	if e.name != root {
		return nil, malformedXML(errors.New("root element " + e.name))
	}
	return e, nil
}

type parser struct {
	decoder *xml.Decoder
	count   int
}

// document reads the root element and makes sure that nothing follows it.
func (p *parser) document() (*element, error) {
	var root *element
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) && root != nil {
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if root != nil {
				return nil, errors.New("more than one root element")
			}
			e, err := p.element(t.Name.Local, 1)
			if err != nil {
				return nil, err
			}
			root = &e
		case xml.Directive:
			return nil, errors.New("a document type declaration")
		}
	}
}

// element reads the content of an element whose start has been read.
func (p *parser) element(name string, depth int) (element, error) {
	e := element{name: name}
	if p.count++; depth > maxDepth || p.count > maxElements {
		return e, errors.New("elements too many or nested too deep")
	}
	var text strings.Builder
	for {
		token, err := p.decoder.Token()
		if err != nil {
			return e, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			child, err := p.element(t.Name.Local, depth+1)
			if err != nil {
				return e, err
			}
			e.children = append(e.children, child)
		case xml.EndElement:
			if len(e.children) == 0 {
				e.text = text.String()
			}
			return e, nil
		case xml.CharData:
			text.Write(t)
		case xml.Directive:
			return e, errors.New("a document type declaration")
		}
	}
}

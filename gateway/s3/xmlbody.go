package s3

import (
	"encoding/xml"
	"errors"
	"io"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
)

const (
	// maxDocument bounds an XML body in bytes: 1000 keys of 1024 bytes, each
	// escaped at its worst, or 10,000 parts with a checksum each.
	maxDocument = 8 << 20
	// maxElements bounds the elements of a document: 10,000 parts with ten
	// elements each.
	maxElements = 120_000
	// freeDocument is how long a body may be before its memory is charged to
	// Options.MaxBufferedBytes.
	freeDocument = 64 << 10
)

func malformedXML(err error) *Failure { return s3err.MalformedXML.Wrap(err) }

// xmlChild is an element directly within the root of a document.
type xmlChild struct {
	decoder *xml.Decoder
	start   xml.StartElement
}

func (c xmlChild) name() string { return c.start.Name.Local }

// decode reads the element into a struct with encoding/xml's tags.
func (c xmlChild) decode(v any) error { return c.decoder.DecodeElement(v, &c.start) }

// text reads the element's text.
func (c xmlChild) text() (string, error) {
	var text string
	err := c.decode(&text)
	return text, err
}

func (c xmlChild) skip() error { return c.decoder.Skip() }

// parseDocument reads a hostile XML body to its end. The root element must have
// the given name; child is called for each element within it and must read or
// skip it. Namespaces and unknown attributes are ignored, as S3 ignores them.
// The memory that parsing itself takes is a small multiple of maxToken: what
// child keeps is the caller's to bound.
func parseDocument(r io.Reader, root string, child func(xmlChild) error) error {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	decoder := xml.NewDecoder(&xmlGuard{r: limited, elements: maxElements})
	err := decodeRoot(decoder, root, child)
	if limited.N <= 0 {
		return malformedXML(errors.New("document too long"))
	}
	var failure *Failure
	if err == nil || errors.As(err, &failure) {
		return err
	}
	return malformedXML(err)
}

// decodeRoot reads the root element and makes sure that nothing follows it.
func decodeRoot(decoder *xml.Decoder, root string, child func(xmlChild) error) error {
	inside, seen := false, false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && seen {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch {
			case inside:
				err = child(xmlChild{decoder, t})
			case seen:
				err = errors.New("more than one root element")
			case t.Name.Local != root:
				err = errors.New("root element " + t.Name.Local)
			default:
				inside, seen = true, true
			}
			if err != nil {
				return err
			}
		case xml.EndElement:
			inside = false
		}
	}
}

package s3

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	namespace  = "http://s3.amazonaws.com/doc/2006-01-02/"
	timeFormat = "2006-01-02T15:04:05.000Z"
)

// document builds an XML document of a response.
type document struct {
	b    bytes.Buffer
	root string
}

// newDocument begins a document with its root element, in a namespace unless
// that is "".
func newDocument(root, space string) *document {
	d := &document{root: root}
	d.b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<" + root)
	if space != "" {
		d.b.WriteString(` xmlns="` + space + `"`)
	}
	d.b.WriteByte('>')
	return d
}

func (d *document) open(name string)  { d.b.WriteString("<" + name + ">") }
func (d *document) close(name string) { d.b.WriteString("</" + name + ">") }

// text adds an element that holds text.
func (d *document) text(name, value string) {
	d.open(name)
	appendXMLText(&d.b, value)
	d.close(name)
}

// optional is text, unless the value is empty.
func (d *document) optional(name, value string) {
	if value != "" {
		d.text(name, value)
	}
}

func (d *document) number(name string, value int64) {
	d.text(name, strconv.FormatInt(value, 10))
}
func (d *document) flag(name string, value bool) { d.text(name, strconv.FormatBool(value)) }
func (d *document) time(name string, t time.Time) {
	d.text(name, t.UTC().Format(timeFormat))
}
func (d *document) etag(value string) { d.optional("ETag", quoteETag(value)) }

// user adds an element, such as Owner, that names someone.
func (d *document) user(element, id string) {
	d.open(element)
	d.text("ID", id)
	d.text("DisplayName", id)
	d.close(element)
}

// finish ends the document and returns it.
func (d *document) finish() []byte {
	d.close(d.root)
	return d.b.Bytes()
}

// appendXMLText escapes text. Control characters that XML 1.0 cannot hold are
// written as references, as S3 does: a client may refuse them, but none is
// shown a key that differs from the stored one. Clients that ask for
// encoding-type=url never meet them.
func appendXMLText(b *bytes.Buffer, s string) {
	for _, c := range s {
		switch {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '"':
			b.WriteString("&quot;")
		case c < 0x20 || c == 0x7f || c == 0xfffe || c == 0xffff:
			b.WriteString("&#x" + strconv.FormatInt(int64(c), 16) + ";")
		default:
			var encoded [utf8.UTFMax]byte
			b.Write(utf8.AppendRune(encoded[:0], c))
		}
	}
}

// printable returns s with what XML 1.0 cannot hold replaced. It is for error
// documents, which only tell what happened.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c == 0xfffe || c == 0xffff {
			return utf8.RuneError
		}
		return c
	}, s)
}

// quoteETag returns an ETag as headers and documents have it.
func quoteETag(etag string) string {
	if etag == "" {
		return ""
	}
	return `"` + etag + `"`
}

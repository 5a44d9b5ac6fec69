package document

import (
	"bytes"
	"encoding/xml"
	"time"
	"unicode/utf8"
)

const (
	header     = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"
	timeFormat = "2006-01-02T15:04:05.000Z"
	// space is the namespace of S3's documents, all but errors.
	space = "http://s3.amazonaws.com/doc/2006-03-01/"
)

// Marshal returns a document with its XML declaration.
func Marshal(document any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	err := xml.NewEncoder(&b).Encode(document)
	// As S3 writes quotes; a text that says "&#34;" itself has its "&" escaped.
	text := bytes.ReplaceAll(b.Bytes(), []byte("&#34;"), []byte("&quot;"))
	if bytes.Contains(text, []byte("&#39;")) {
		text = bytes.ReplaceAll(text, []byte("&#39;"), []byte("'"))
	}
	return text, err
}

// Time returns a time as S3 writes it, to the millisecond.
func Time(t time.Time) string { return t.UTC().Format(timeFormat) }

// ETag returns an ETag with the quotes that documents have, "" for none.
func ETag(etag string) string {
	if etag == "" {
		return ""
	}
	return `"` + etag + `"`
}

// Holds reports whether a document can hold a name as it is.
func Holds(name string) bool {
	for i, c := range name {
		switch {
		case c >= 0x20 && c < 0xfffe && c != utf8.RuneError, c > 0xffff, c == '\t', c == '\n', c == '\r':
		case c == utf8.RuneError && len(name) >= i+3 && name[i:i+3] == string(utf8.RuneError):
		default:
			return false
		}
	}
	return true
}

package stardust

import (
	"sync/atomic"

	"github.com/stardustdb/stardust/internal/dust"
)

// A Document is a value, usually an object or an array of objects, that a call
// takes or returns: a node's record, a manifest, a request. [Parse] makes one
// from text, and every call that returns one returns a new one.
//
// A Document is immutable and safe for concurrent use. Whoever receives it owns
// it and should close it; a call that takes a Document only borrows it. After
// Close, and on a nil Document, every method returns an error of StatusClosed.
//
// It keeps the order of members and every digit of its numbers, whichever
// format they came in.
type Document struct {
	root   dust.Value
	closed atomic.Bool
}

// newDocument returns a Document of v, which it shares with the caller.
func newDocument(v dust.Value) *Document { return &Document{root: v} }

// value returns the value of the document, or an error of StatusClosed.
func (d *Document) value() (dust.Value, error) {
	if d == nil {
		return dust.Value{}, &Error{Status: StatusClosed, Message: "the document is nil"}
	}
	if d.closed.Load() {
		return dust.Value{}, &Error{Status: StatusClosed, Message: "the document is closed"}
	}
	return d.root, nil
}

// Close ends the use of the document. Values read from it stay valid. Close may
// be called at any time, and again; it returns nil.
func (d *Document) Close() error {
	if d != nil {
		d.closed.Store(true)
	}
	return nil
}

//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"sync"
	"unsafe"

	"github.com/stardustdb/stardust"
)

// document is a document that C holds, with the texts that it asked for.
type document struct {
	entry
	value *stardust.Document

	mu       sync.Mutex
	texts    [3]text // by format
	released bool
}

// text is in C's memory and has a NUL byte at its end.
type text struct {
	data   *C.char
	length C.size_t
}

func (*document) kind() kind { return kindDocument }

func (d *document) discard() { _ = d.value.Close() }

// borrow returns the document of a handle; 0 is nil where none is needed.
func borrow(handle C.stardust_document, optional bool) (*stardust.Document, error) {
	if handle == 0 && optional {
		return nil, nil
	}
	d, err := get[*document](table, uint64(handle))
	if err != nil {
		return nil, err
	}
	return d.value, nil
}

//export libstardust_document_parse
func libstardust_document_parse(data C.uintptr_t, length C.size_t, format C.stardust_format, into *C.stardust_document) C.stardust_result {
	if into == nil {
		return fail(isNull("document"))
	}
	source, err := view(data, length)
	if err != nil {
		return fail(err)
	}
	var written stardust.Format
	switch format {
	case C.STARDUST_DUST:
		written = stardust.DUST
	case C.STARDUST_JSON:
		written = stardust.JSON
	default:
		return fail(refused(stardust.StatusInvalidArgument, "format: documents are read as STARDUST_DUST or STARDUST_JSON"))
	}
	d, err := stardust.Parse(source, written)
	if err != nil {
		return fail(err)
	}
	return hand(into, &document{value: d})
}

//export stardust_document_text
func stardust_document_text(handle C.stardust_document, format C.stardust_format, into **C.stardust_const_char, length *C.size_t) C.stardust_result {
	if into == nil {
		return fail(isNull("text"))
	}
	d, err := get[*document](table, uint64(handle))
	if err != nil {
		return fail(err)
	}
	t, err := d.text(format)
	if err != nil {
		return fail(err)
	}
	setText(into, t.data)
	if length != nil {
		*length = t.length
	}
	return 0
}

func (d *document) text(format C.stardust_format) (text, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released {
		return text{}, refused(stardust.StatusClosed, "a document was closed or released before")
	}
	if format < 0 || int(format) >= len(d.texts) {
		return text{}, refused(stardust.StatusInvalidArgument, "format: it is none of STARDUST_DUST, STARDUST_JSON and STARDUST_JSON_INDENTED")
	}
	t := &d.texts[format]
	if t.data == nil {
		encoded, err := encode(d.value, format)
		if err != nil {
			return text{}, err
		}
		*t = newText(encoded)
	}
	return *t, nil
}

func encode(d *stardust.Document, format C.stardust_format) ([]byte, error) {
	switch format {
	case C.STARDUST_JSON:
		return d.JSON()
	case C.STARDUST_JSON_INDENTED:
		return d.Indent()
	}
	return d.DUST()
}

func newText(b []byte) text {
	data := (*C.char)(C.malloc(C.size_t(len(b)) + 1))
	whole := unsafe.Slice((*byte)(unsafe.Pointer(data)), len(b)+1)
	copy(whole, b)
	whole[len(b)] = 0
	return text{data, C.size_t(len(b))}
}

//export stardust_document_release
func stardust_document_release(handle C.stardust_document) C.stardust_status {
	d, err := end[*document](table, uint64(handle))
	if err != nil {
		return statusOf(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.released = true
	for _, t := range d.texts {
		C.free(unsafe.Pointer(t.data))
	}
	return statusOf(d.value.Close())
}

//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/stardustdb/stardust"
)

// result is what a call came to: a document, an error, or both.
type result struct {
	entry
	mu       sync.Mutex
	document *document // of which taking it makes a handle
	err      *stardust.Error
	texts    *errorTexts // made when they are asked for
	released bool
}

func (*result) kind() kind { return kindResult }

// give makes the handle of a result. A success without a document needs none.
func give(d *stardust.Document, err error) C.stardust_result {
	if d == nil && err == nil {
		return 0
	}
	// In one piece, since nearly every document is taken.
	both := new(struct {
		result
		document
	})
	r := &both.result
	r.err = asError(err)
	if d != nil {
		both.value = d
		r.document = &both.document
	}
	handle := table.put(r)
	if handle == 0 {
		return noRoom
	}
	return C.stardust_result(handle)
}

// noRoom is the result of calls for which the table has no handle left. It is
// none that the table gives, and needs no release.
const noRoom C.stardust_result = 1<<60 | C.stardust_result(kindResult)

// hand gives an object's handle to the caller.
func hand[T ~uint64](into *T, o interface {
	object
	discard()
},
) C.stardust_result {
	handle := table.put(o)
	if handle == 0 {
		o.discard()
		return noRoom
	}
	*into = T(handle)
	return 0
}

// fail is give without a document.
func fail(err error) C.stardust_result { return give(nil, err) }

// asError gives causes that come from elsewhere a status.
func asError(err error) *stardust.Error {
	var e *stardust.Error
	if err == nil || errors.As(err, &e) {
		return e
	}
	return &stardust.Error{Status: stardust.StatusIO, Err: err}
}

// errorTexts are the strings of a stardust_error, in C's memory.
type errorTexts struct{ code, operation, message *C.char }

func newErrorTexts(e *stardust.Error) *errorTexts {
	return &errorTexts{C.CString(e.Code), C.CString(e.Op), C.CString(e.Error())}
}

func (t *errorTexts) fill(into *C.stardust_error, status stardust.Status) {
	into.status = C.stardust_status(status)
	setText(&into.code, t.code)
	setText(&into.operation, t.operation)
	setText(&into.message, t.message)
}

func (t *errorTexts) free() {
	if t != nil {
		C.free(unsafe.Pointer(t.code))
		C.free(unsafe.Pointer(t.operation))
		C.free(unsafe.Pointer(t.message))
	}
}

//export stardust_result_error
func stardust_result_error(handle C.stardust_result, into *C.stardust_error) C.stardust_status {
	if handle == 0 {
		return plain(into, C.STARDUST_OK, C.stardust_text_empty())
	}
	if handle == noRoom {
		return plain(into, C.STARDUST_OUT_OF_MEMORY, C.stardust_text_no_room())
	}
	r, err := get[*result](table, uint64(handle))
	if err != nil {
		return badResult(into, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.released: // since it was looked up
		return plain(into, C.STARDUST_CLOSED, C.stardust_text_bad_result(C.STARDUST_CLOSED))
	case r.err == nil:
		return plain(into, C.STARDUST_OK, C.stardust_text_empty())
	case into != nil:
		if r.texts == nil {
			r.texts = newErrorTexts(r.err)
		}
		r.texts.fill(into, r.err.Status)
	}
	return C.stardust_status(r.err.Status)
}

func badResult(into *C.stardust_error, err error) C.stardust_status {
	status := statusOf(err)
	return plain(into, status, C.stardust_text_bad_result(status))
}

// plain fills in an error whose message is there for good.
func plain(into *C.stardust_error, status C.stardust_status, message *C.stardust_const_char) C.stardust_status {
	if into != nil {
		into.status = status
		setText(&into.code, C.stardust_text_empty())
		setText(&into.operation, C.stardust_text_empty())
		setText(&into.message, message)
	}
	return status
}

//export stardust_result_take_document
func stardust_result_take_document(handle C.stardust_result) C.stardust_document {
	r, err := get[*result](table, uint64(handle))
	if err != nil {
		return 0
	}
	r.mu.Lock()
	d := r.document
	r.document = nil
	r.mu.Unlock()
	if d == nil {
		return 0
	}
	return C.stardust_document(table.put(d))
}

//export stardust_result_release
func stardust_result_release(handle C.stardust_result) C.stardust_status {
	if handle == 0 || handle == noRoom {
		return C.STARDUST_OK
	}
	r, err := end[*result](table, uint64(handle))
	if err != nil {
		return statusOf(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = true
	r.texts.free()
	if r.document != nil {
		r.document.discard()
		r.document = nil
	}
	return C.STARDUST_OK
}

// statusOf returns the status of a call that needs to say no more.
func statusOf(err error) C.stardust_status {
	if err == nil {
		return C.STARDUST_OK
	}
	return C.stardust_status(asError(err).Status)
}

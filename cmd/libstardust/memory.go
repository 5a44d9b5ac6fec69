//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"math"
	"unsafe"

	"github.com/stardustdb/stardust"
)

// What C holds in memory or hands over need not be a pointer to anything: memory
// that was never set, the address of an empty buffer, a context that is a number.
// Such a value may be an address in Go's own heap. Go ends the process when it
// finds one in a variable that is a pointer, and when it stores a pointer over
// one, since its write barrier looks at what was there. So these values are
// uintptr here, and pointers are stored in C's memory as numbers.

// setText stores a pointer to C's memory in C's memory.
func setText(into **C.stardust_const_char, text *C.stardust_const_char) {
	*(*uintptr)(unsafe.Pointer(into)) = uintptr(unsafe.Pointer(text))
}

// number returns a pointer of C's that may be anything.
func number(p unsafe.Pointer) C.uintptr_t { return C.uintptr_t(uintptr(p)) }

// view returns the caller's bytes as they lie, for the time of the call.
func view(data C.uintptr_t, length C.size_t) ([]byte, error) {
	switch {
	case length == 0:
		return nil, nil
	case data == 0:
		return nil, isNull("data")
	case uint64(length) > math.MaxInt:
		return nil, refused(stardust.StatusInvalidArgument, "length: it is more than the address space holds")
	}
	start := *(*unsafe.Pointer)(unsafe.Pointer(&data))
	return unsafe.Slice((*byte)(start), int(length)), nil
}

// isNull says that a pointer is missing.
func isNull(name string) error {
	return refused(stardust.StatusInvalidArgument, name+": it is NULL")
}

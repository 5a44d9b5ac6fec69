//go:build cgo

package main

// #include "cgo.h"
import "C"

// main is never called: the package is built as a library.
func main() {}

// table has every live handle. It is the one variable of the package, since a C
// library has no other place for what its caller's numbers mean.
var table = newHandles()

//export stardust_abi_version
func stardust_abi_version() C.uint32_t { return C.STARDUST_ABI_VERSION }

//export stardust_status_name
func stardust_status_name(status C.stardust_status) *C.stardust_const_char {
	return C.stardust_text_status(status)
}

//export stardust_live_handles
func stardust_live_handles() C.uint64_t { return C.uint64_t(table.live()) }

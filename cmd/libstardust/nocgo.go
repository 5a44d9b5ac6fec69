//go:build !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "libstardust is a C library: build it where there is a C compiler, with CGO_ENABLED=1 and -buildmode=c-shared or c-archive")
	os.Exit(1)
}

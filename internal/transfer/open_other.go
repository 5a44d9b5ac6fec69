//go:build !unix

package transfer

// openNonblock is no flag here, where no name in a directory is a pipe.
const openNonblock = 0

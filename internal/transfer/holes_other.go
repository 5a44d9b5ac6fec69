//go:build !linux

package transfer

import "os"

// holesReader reads a file as it is: holes are not known here.
type holesReader struct {
	file  *os.File
	found bool
}

func (r *holesReader) Read(p []byte) (int, error) { return r.file.Read(p) }

func (r *holesReader) rewind() {}

// hasHoles reports that none are known.
func (s *stat) hasHoles() bool { return false }

func hasHole(*os.File, int64) bool { return false }

package watch

import (
	"errors"
	"fmt"
	"os"
)

// marker is a pipe that is watched, too: the change that writing to it is comes after
// all others that happened before.
type marker struct {
	read, write *os.File
	path        string
}

// newMarker returns nil where there can be none.
func newMarker() *marker {
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	return &marker{read, write, fmt.Sprintf("/proc/self/fd/%d", write.Fd())}
}

func (m *marker) touch() error {
	_, err := m.write.Write([]byte{0})
	return err
}

func (m *marker) close() { _ = errors.Join(m.read.Close(), m.write.Close()) } // nobody reads it

package need

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
)

// run386 runs a program of 32 bits that does nothing but end well. Kernels may
// be built or told to refuse it, whatever the processor can do.
func run386() (string, error) {
	dir, err := os.MkdirTemp("", "stardust-need-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left lies in the temporary directory
	path := filepath.Join(dir, "386")
	if err := os.WriteFile(path, program386(), 0o700); err != nil {
		return "", err
	}
	_, err = output(path)
	return "", err
}

// program386 is exit(0) as an ELF file: a header, one segment, three instructions.
func program386() []byte {
	const (
		base    = 0x08048000
		headers = 52 + 32
	)
	code := []byte{
		0xb8, 1, 0, 0, 0, // mov eax, 1: the number of exit
		0x31, 0xdb, // xor ebx, ebx: its argument
		0xcd, 0x80, // int 0x80
	}
	size := uint32(headers + len(code))
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	for _, part := range []any{
		// An executable for the 386, version 1; where it begins; where the segments are told.
		[]uint16{2, 3},
		[]uint32{1, base + headers, 52, 0, 0},
		[]uint16{52, 32, 1, 0, 0, 0},
		// Loaded, from the file's start to base, readable and executable, by pages.
		[]uint32{1, 0, base, base, size, size, 5, 0x1000},
	} {
		_ = binary.Write(&b, binary.LittleEndian, part) // a buffer takes everything
	}
	return append(b.Bytes(), code...)
}

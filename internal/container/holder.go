package container

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
)

// Holder tells which process has a file open for writing. It is a note for
// people: the lock decides, the note may be out of date.
type Holder struct {
	PID  int64
	Host string
}

// The holder's note: checksum of the rest, process id, length of the host's
// name, the name. A file at rest has zeros there.
const (
	noteChecksum = 0
	notePID      = 4
	noteHostSize = 12
	noteHost     = 16
	noteSize     = 512
)

func thisProcess() Holder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Holder{PID: int64(os.Getpid()), Host: host}
}

func (h Holder) encode() []byte {
	p := make([]byte, noteSize)
	binary.LittleEndian.PutUint64(p[notePID:], uint64(h.PID))
	n := copy(p[noteHost:], h.Host)
	binary.LittleEndian.PutUint32(p[noteHostSize:], uint32(n))
	binary.LittleEndian.PutUint32(p[noteChecksum:], crc32.Checksum(p[notePID:], castagnoli()))
	return p
}

// decodeHolder returns the zero value for anything but a whole note.
func decodeHolder(p []byte) Holder {
	if len(p) != noteSize || crc32.Checksum(p[notePID:], castagnoli()) != binary.LittleEndian.Uint32(p) {
		return Holder{}
	}
	n := binary.LittleEndian.Uint32(p[noteHostSize:])
	if n > noteSize-noteHost {
		return Holder{}
	}
	return Holder{
		PID:  int64(binary.LittleEndian.Uint64(p[notePID:])),
		Host: string(bytes.ToValidUTF8(p[noteHost:noteHost+int(n)], []byte("?"))),
	}
}

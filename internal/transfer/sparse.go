package transfer

import (
	"bytes"
	"io"
	"os"
)

// holeSize is the least run of zeros that a hole is made of: a page of most
// systems, and a block of most file systems.
const holeSize = 4096

var zeros [holeSize]byte

// sparseWriter writes a file and leaves holes where there are only zeros. Finish
// gives the file its length.
type sparseWriter struct {
	file *os.File
	at   int64
	hole bool // the last bytes were left out
}

func (s *sparseWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		// Pieces end where a block does.
		piece := p[:min(len(p), holeSize-int(s.at%holeSize))]
		end := len(piece)
		if s.hole = len(piece) == holeSize && bytes.Equal(piece, zeros[:]); !s.hole {
			for end < len(p) && (len(p)-end < holeSize || !bytes.Equal(p[end:end+holeSize], zeros[:])) {
				end = min(len(p), end+holeSize)
			}
			if _, err := s.file.WriteAt(p[:end], s.at); err != nil {
				return written, err
			}
		}
		written, s.at, p = written+end, s.at+int64(end), p[end:]
	}
	return written, nil
}

func (s *sparseWriter) finish() error {
	if !s.hole {
		return nil
	}
	return s.file.Truncate(s.at)
}

var _ io.Writer = (*sparseWriter)(nil)

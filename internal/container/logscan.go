package container

import (
	"encoding/binary"
	"errors"
	"io"
)

// scannedLog is what a look at a whole write-ahead log found.
type scannedLog struct {
	exists bool
	size   int64
	header bool    // its header is whole
	salts  [8]byte // of the header
	// commits are the frames up to the last commit of which everything before is
	// whole; sum is the checksum of the last of them.
	commits uint64
	sum     [8]byte
	// sums are the checksums after as many frames as were asked for.
	sums map[uint64][8]byte
	// broken says that a frame before a commit that once was acknowledged is not
	// what was written: no crash leaves that.
	broken bool
	bad    uint64 // that frame, from 1
}

// A log's header and what SQLite writes there.
const (
	logMagic = 0x377f0682 // and, where the checksums are big endian, one more
	logSalts = 16
)

// looksLikeLog says whether these are the first bytes of a log of SQLite's, of
// one that was never written, or of nothing at all.
func looksLikeLog(p []byte) bool {
	if len(p) < 4 {
		return len(p) == 0
	}
	first := binary.BigEndian.Uint32(p)
	return first == 0 || first&^1 == logMagic
}

// wholeHeader checks the header's own checksum, which the frames' go on from.
func wholeHeader(p []byte) bool {
	if len(p) < logHeader || binary.BigEndian.Uint32(p) != logMagic || binary.BigEndian.Uint32(p[8:]) != PageSize {
		return false
	}
	s1, s2 := logSum(p[:logChecksum], 0, 0)
	return binary.BigEndian.Uint32(p[logChecksum:]) == s1 && binary.BigEndian.Uint32(p[logChecksum+4:]) == s2
}

// scanLog looks at all frames of a log. Salts are those of the log that is
// expected, in case the header is lost; asked are numbers of frames after which
// the checksum matters.
func scanLog(r io.ReaderAt, size int64, salts [8]byte, asked ...uint64) (*scannedLog, error) {
	s := &scannedLog{exists: true, size: size, salts: salts, sums: make(map[uint64][8]byte)}
	head := make([]byte, logHeader)
	if n, err := r.ReadAt(head, 0); n < logHeader && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if s.header = wholeHeader(head); s.header {
		s.salts = [8]byte(head[logSalts:])
	}
	walk := logWalk{scan: s, before: [8]byte(head[logChecksum:]), whole: s.header}
	const batch = 256
	buf := make([]byte, batch*frameSize)
	for n := uint64(0); ; {
		got, err := r.ReadAt(buf, logHeader+int64(n)*frameSize)
		if got < len(buf) && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for p := buf[:got]; len(p) >= frameSize; p = p[frameSize:] {
			n++
			walk.frame(n, p[:frameSize])
			for _, a := range asked {
				if a == n && walk.whole {
					s.sums[n] = walk.before
				}
			}
		}
		if got < len(buf) {
			return s, nil
		}
	}
}

// logWalk goes from frame to frame.
type logWalk struct {
	scan     *scannedLog
	before   [8]byte // the checksum that the next frame's goes on from, as it is there
	whole    bool    // all frames so far are
	firstBad uint64
	// committed says that the frame before is whole by itself, comes after the
	// first bad one, and ends a commit.
	committed bool
}

// frame looks at frame n. A commit is synced before the next begins. So a whole
// frame that goes on from a whole commit proves that everything before that
// commit was on the disk once; what a failed or torn commit leaves does not go
// on from the frame before it.
func (w *logWalk) frame(n uint64, p []byte) {
	s := w.scan
	good := [8]byte(p[8:]) == s.salts && binary.BigEndian.Uint32(p) != 0 && checkFrame(p, w.before)
	commit := binary.BigEndian.Uint32(p[4:]) != 0
	w.before = [8]byte(p[frameChecksum:])
	switch {
	case w.whole && good:
		if commit {
			s.commits, s.sum = n, w.before
		}
		return
	case w.whole:
		w.whole, w.firstBad = false, n
		if n == 1 && !s.header {
			w.firstBad = 0
		}
		w.committed = false
		return
	case w.firstBad == 0 && !s.header && n == 1: // the header is lost: nothing goes on from it
		w.committed = false
		return
	}
	if good && w.committed && !s.broken {
		s.broken, s.bad = true, w.firstBad
	}
	w.committed = good && commit
}

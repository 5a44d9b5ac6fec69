package container

import "encoding/binary"

// The write-ahead log is SQLite's; see "WAL-mode File Format" of its manual. A
// header of 32 bytes is followed by frames, each a header and a page. A frame's
// checksum goes on from that of the frame before it.
const (
	logHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + PageSize

	logChecksum   = 24 // within the log's header
	frameChecksum = 16 // within a frame's header
	frameCovered  = 8  // bytes of a frame's header that its checksum covers
)

// framePage returns the number, from 0, of the frame whose page begins at off.
func framePage(off int64) (int64, bool) {
	n := off - logHeader - frameHeader
	return n / frameSize, n >= 0 && n%frameSize == 0
}

// checksumBefore returns where the checksum lies that a frame's goes on from.
func checksumBefore(n int64) int64 {
	if n == 0 {
		return logChecksum
	}
	return logHeader + (n-1)*frameSize + frameChecksum
}

// checkFrame compares a frame with its checksum. The log is written by a machine
// that is little endian, WebAssembly, whatever machine it runs on.
func checkFrame(frame []byte, before [8]byte) bool {
	s1, s2 := binary.BigEndian.Uint32(before[:]), binary.BigEndian.Uint32(before[4:])
	s1, s2 = logSum(frame[:frameCovered], s1, s2)
	s1, s2 = logSum(frame[frameHeader:], s1, s2)
	return binary.BigEndian.Uint32(frame[frameChecksum:]) == s1 &&
		binary.BigEndian.Uint32(frame[frameChecksum+4:]) == s2
}

func logSum(p []byte, s1, s2 uint32) (uint32, uint32) {
	for len(p) >= 8 {
		s1 += binary.LittleEndian.Uint32(p) + s2
		s2 += binary.LittleEndian.Uint32(p[4:]) + s1
		p = p[8:]
	}
	return s1, s2
}

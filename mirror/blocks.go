package mirror

import "hash/crc32"

// blockSize is how many bytes one checksum covers. It is part of the format of
// .meta files.
const blockSize = 64 << 10

// blockCount returns how many blocks an object of size bytes has.
func blockCount(size int64) int64 { return (size + blockSize - 1) / blockSize }

// blockSummer computes the checksums of consecutive blocks from bytes that
// come in any pieces. It begins at a block's first byte. The zero value is
// ready to use, and not safe for concurrent use.
type blockSummer struct {
	sums []uint32
	crc  uint32
	have int // bytes in the block begun
}

// write adds bytes.
func (b *blockSummer) write(p []byte) {
	table := castagnoli()
	for len(p) > 0 {
		n := min(len(p), blockSize-b.have)
		b.crc = crc32.Update(b.crc, table, p[:n])
		b.have += n
		p = p[n:]
		if b.have == blockSize {
			b.close()
		}
	}
}

// close ends a block that was begun.
func (b *blockSummer) close() {
	if b.have > 0 {
		b.sums = append(b.sums, b.crc)
		b.crc, b.have = 0, 0
	}
}

// sum returns the checksums of all blocks; the last may be short.
func (b *blockSummer) sum() []uint32 {
	b.close()
	return b.sums
}

package local

import "hash/crc32"

// BlockSize is how many bytes one checksum covers. It is part of the format of
// .meta files.
const BlockSize = 64 << 10

// BlockCount returns how many blocks an object of size bytes has.
func BlockCount(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

// BlockSummer computes the checksums of consecutive blocks from bytes that
// come in any pieces. It begins at a block's first byte. The zero value is
// ready to use, and not safe for concurrent use.
type BlockSummer struct {
	sums []uint32
	crc  uint32
	have int // bytes in the block begun
}

// Write adds bytes.
func (b *BlockSummer) Write(p []byte) {
	table := Castagnoli()
	for len(p) > 0 {
		n := min(len(p), BlockSize-b.have)
		b.crc = crc32.Update(b.crc, table, p[:n])
		b.have += n
		p = p[n:]
		if b.have == BlockSize {
			b.close()
		}
	}
}

// close ends a block that was begun.
func (b *BlockSummer) close() {
	if b.have > 0 {
		b.sums = append(b.sums, b.crc)
		b.crc, b.have = 0, 0
	}
}

// Sum returns the checksums of all blocks; the last may be short.
func (b *BlockSummer) Sum() []uint32 {
	b.close()
	return b.sums
}

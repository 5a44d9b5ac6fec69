package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/stardustdb/stardust/internal/digest"
)

// BlockSize is how many bytes of a chunk each checksum covers. The last block of
// a chunk may be shorter.
const BlockSize = 64 << 10

// MaxSize is the largest chunk that a record can hold, in bytes.
const MaxSize = 64 << 20

// ErrCorrupt is wrapped by every error that means a record is not what it must
// be: damaged, cut off, or another one. Errors of the disk do not wrap it.
var ErrCorrupt = errors.New("stored chunk is damaged")

// recordMagic begins every record.
const recordMagic = "SDc\x01"

// The fields of a header. Everything is little endian. The block checksums
// follow headerFixed, and the header's own checksum follows them.
const (
	fieldSize   = 4
	fieldDigest = 8
	headerFixed = 40
)

// Location says where a record lies in the file.
type Location struct {
	Offset int64 // of the record's first byte
	Size   int64 // of the chunk, without the record's header
}

// End returns the offset after the record's last byte.
func (l Location) End() int64 { return l.Offset + headerSize(l.Size) + l.Size }

// valid says whether a location can be one of a record.
func (l Location) valid() bool {
	return l.Offset > 0 && l.Offset%unit == 0 && l.Size >= 0 && l.Size <= MaxSize && l.Offset <= 1<<62
}

// unit is what records are aligned to. A search for records after the loss of
// the catalog needs to look at these places only.
const unit = 64

func blocks(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

func headerSize(size int64) int64 { return headerFixed + 4*blocks(size) + 4 }

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// header is a record's header.
type header struct {
	digest digest.Digest
	size   int64
	sums   []uint32 // of the blocks
}

// newHeader describes a chunk.
func newHeader(digest digest.Digest, data []byte) header {
	h := header{digest: digest, size: int64(len(data)), sums: make([]uint32, 0, blocks(int64(len(data))))}
	for len(data) > 0 {
		n := min(BlockSize, len(data))
		h.sums = append(h.sums, crc32.Checksum(data[:n], castagnoli()))
		data = data[n:]
	}
	return h
}

func (h *header) encode() []byte {
	p := make([]byte, headerSize(h.size))
	copy(p, recordMagic)
	binary.LittleEndian.PutUint32(p[fieldSize:], uint32(h.size))
	copy(p[fieldDigest:], h.digest[:])
	for i, sum := range h.sums {
		binary.LittleEndian.PutUint32(p[headerFixed+4*i:], sum)
	}
	end := len(p) - 4
	binary.LittleEndian.PutUint32(p[end:], crc32.Checksum(p[:end], castagnoli()))
	return p
}

// peekSize returns the size of the chunk that a header is of, given its first
// headerFixed bytes, and whether these can be the beginning of a record at all.
func peekSize(p []byte) (int64, bool) {
	if len(p) < headerFixed || string(p[:len(recordMagic)]) != recordMagic {
		return 0, false
	}
	size := int64(binary.LittleEndian.Uint32(p[fieldSize:]))
	return size, size <= MaxSize
}

// decodeHeader reads a whole header; its length says how large the chunk is
// expected to be.
func decodeHeader(p []byte, size int64) (header, error) {
	got, ok := peekSize(p)
	switch {
	case !ok:
		return header{}, fmt.Errorf("%w: no record begins there", ErrCorrupt)
	case got != size || int64(len(p)) != headerSize(size):
		return header{}, fmt.Errorf("%w: the record holds %d bytes, %d are expected", ErrCorrupt, got, size)
	}
	end := len(p) - 4
	if crc32.Checksum(p[:end], castagnoli()) != binary.LittleEndian.Uint32(p[end:]) {
		return header{}, fmt.Errorf("%w: the header does not match its checksum", ErrCorrupt)
	}
	h := header{digest: digest.Digest(p[fieldDigest:]), size: size, sums: make([]uint32, blocks(size))}
	for i := range h.sums {
		h.sums[i] = binary.LittleEndian.Uint32(p[headerFixed+4*i:])
	}
	return h, nil
}

// checkBlocks compares whole blocks with their checksums; first is the number of
// the first one.
func (h *header) checkBlocks(data []byte, first int) error {
	for i := first; len(data) > 0; i++ {
		n := min(BlockSize, len(data))
		if crc32.Checksum(data[:n], castagnoli()) != h.sums[i] {
			return fmt.Errorf("%w: block %d does not match its checksum", ErrCorrupt, i)
		}
		data = data[n:]
	}
	return nil
}

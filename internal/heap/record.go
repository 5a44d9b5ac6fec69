package heap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/stardustdb/stardust/internal/digest"
)

// BlockSize is how many bytes of a chunk each checksum covers, and are compressed
// together. The last block of a chunk may be shorter.
const BlockSize = 64 << 10

// MaxSize is the largest chunk that a record can hold, in bytes.
const MaxSize = 64 << 20

// ErrCorrupt is wrapped by every error that means a record is not what it must
// be: damaged, cut off, or another one. Errors of the disk do not wrap it.
var ErrCorrupt = errors.New("stored chunk is damaged")

// What begins every record: of a chunk as it is, and of one that is compressed.
const (
	plainMagic  = "SDc\x01"
	packedMagic = "SDc\x02"
)

// The fields of a header. Everything is little endian. What is known of each
// block follows headerFixed: its checksum, and before that, when the chunk is
// compressed, the size of the block as stored. The header's own checksum is last.
const (
	fieldSize   = 4
	fieldDigest = 8
	headerFixed = 40
)

// Location says where a record lies in the file.
type Location struct {
	Offset int64 // of the record's first byte
	Size   int64 // of the chunk
	// Stored is how many bytes the record has for the chunk: Size, or fewer when
	// it is compressed.
	Stored int64
}

// End returns the offset after the record's last byte.
func (l Location) End() int64 { return l.body() + l.Stored }

// body returns where the chunk's bytes begin.
func (l Location) body() int64 { return l.Offset + headerSize(l.Size, l.packed()) }

// packed reports whether the chunk is compressed.
func (l Location) packed() bool { return l.Stored != l.Size }

// valid says whether a location can be one of a record.
func (l Location) valid() bool {
	return l.Offset > 0 && l.Offset%unit == 0 && l.Offset <= 1<<62 && l.Size >= 0 && l.Size <= MaxSize &&
		(l.Stored == l.Size || l.Stored > 0 && l.Stored < l.Size)
}

// check refuses a location that can be none, and a buffer of another size.
func (l Location) check(buffer []byte, size int64) error {
	if !l.valid() || int64(len(buffer)) != size {
		return at(l, fmt.Errorf("%w: no such record can be (buffer of %d bytes)", ErrCorrupt, len(buffer)))
	}
	return nil
}

// span returns how many bytes a record keeps from others.
func (l Location) span() int64 { return (l.End() - l.Offset + unit - 1) / unit * unit }

// unit is what records are aligned to. A search for records after the loss of
// the catalog needs to look at these places only.
const unit = 64

func blocks(size int64) int64 { return (size + BlockSize - 1) / BlockSize }

func headerSize(size int64, packed bool) int64 {
	if packed {
		return headerFixed + 8*blocks(size) + 4
	}
	return headerFixed + 4*blocks(size) + 4
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli()) }

// header is a record's header.
type header struct {
	digest digest.Digest
	size   int64
	sums   []uint32 // of the blocks as stored
	ends   []int64  // of the blocks in the record's body, nil unless compressed
}

// newHeader describes a chunk that is stored as it is.
func newHeader(digest digest.Digest, data []byte) *header {
	h := &header{digest: digest, size: int64(len(data)), sums: make([]uint32, 0, blocks(int64(len(data))))}
	for len(data) > 0 {
		n := min(BlockSize, len(data))
		h.sums = append(h.sums, checksum(data[:n]))
		data = data[n:]
	}
	return h
}

// blockSize returns how large a block of the chunk is.
func (h *header) blockSize(i int) int64 { return min(BlockSize, h.size-int64(i)*BlockSize) }

// place returns where a block lies in the record's body.
func (h *header) place(i int) (begin, end int64) {
	if h.ends == nil {
		begin = int64(i) * BlockSize
		return begin, begin + h.blockSize(i)
	}
	if i > 0 {
		begin = h.ends[i-1]
	}
	return begin, h.ends[i]
}

// stored returns how large the record's body is.
func (h *header) stored() int64 {
	if len(h.ends) == 0 {
		return h.size
	}
	return h.ends[len(h.ends)-1]
}

func (h *header) encode() []byte {
	p := make([]byte, headerFixed, headerSize(h.size, h.ends != nil))
	copy(p, plainMagic)
	if h.ends != nil {
		copy(p, packedMagic)
	}
	binary.LittleEndian.PutUint32(p[fieldSize:], uint32(h.size))
	copy(p[fieldDigest:], h.digest[:])
	for i, sum := range h.sums {
		if h.ends != nil {
			begin, end := h.place(i)
			p = binary.LittleEndian.AppendUint32(p, uint32(end-begin))
		}
		p = binary.LittleEndian.AppendUint32(p, sum)
	}
	return binary.LittleEndian.AppendUint32(p, checksum(p))
}

// peek returns how large the chunk is that a header is of, given its first
// headerFixed bytes, whether it is compressed, and whether these can be the
// beginning of a record at all.
func peek(p []byte) (size int64, packed, ok bool) {
	if len(p) < headerFixed {
		return 0, false, false
	}
	switch string(p[:len(plainMagic)]) {
	case plainMagic:
	case packedMagic:
		packed = true
	default:
		return 0, false, false
	}
	size = int64(binary.LittleEndian.Uint32(p[fieldSize:]))
	return size, packed, size <= MaxSize
}

// decodeHeader reads the whole header of the record at a location.
func decodeHeader(p []byte, loc Location) (*header, error) {
	size, packed, ok := peek(p)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: no record begins there", ErrCorrupt)
	case packed != loc.packed():
		return nil, fmt.Errorf("%w: the record is not of the kind that is expected", ErrCorrupt)
	case size != loc.Size:
		return nil, fmt.Errorf("%w: the record holds %d bytes, %d are expected", ErrCorrupt, size, loc.Size)
	}
	h, err := parseHeader(p)
	if err == nil && h.stored() != loc.Stored {
		return nil, fmt.Errorf("%w: the record has %d bytes for the chunk, %d are expected", ErrCorrupt, h.stored(), loc.Stored)
	}
	return h, err
}

// parseHeader reads a whole header of either kind.
func parseHeader(p []byte) (*header, error) {
	size, packed, ok := peek(p)
	if !ok || int64(len(p)) != headerSize(size, packed) {
		return nil, fmt.Errorf("%w: no record begins there", ErrCorrupt)
	}
	end := len(p) - 4
	if checksum(p[:end]) != binary.LittleEndian.Uint32(p[end:]) {
		return nil, fmt.Errorf("%w: the header does not match its checksum", ErrCorrupt)
	}
	h := &header{digest: digest.Digest(p[fieldDigest:]), size: size, sums: make([]uint32, blocks(size))}
	if packed {
		h.ends = make([]int64, len(h.sums))
	}
	rest, at := p[headerFixed:end], int64(0)
	for i := range h.sums {
		if packed {
			n := int64(binary.LittleEndian.Uint32(rest))
			if n < 1 || n > h.blockSize(i) {
				return nil, fmt.Errorf("%w: block %d of %d bytes has %d stored", ErrCorrupt, i, h.blockSize(i), n)
			}
			at += n
			h.ends[i] = at
			rest = rest[4:]
		}
		h.sums[i] = binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
	}
	if packed && at >= size {
		return nil, fmt.Errorf("%w: a compressed chunk of %d bytes has %d stored", ErrCorrupt, size, at)
	}
	return h, nil
}

// checkBlock compares a stored block with its checksum.
func (h *header) checkBlock(i int, stored []byte) error {
	if checksum(stored) != h.sums[i] {
		return fmt.Errorf("%w: block %d does not match its checksum", ErrCorrupt, i)
	}
	return nil
}

package container

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// superblock describes a file. One slot holds all of it.
type superblock struct {
	version    uint32
	generation uint64   // grows with every change
	identity   [16]byte // random, of this file only
	tail       int64    // the file is at least this long
	extents    extents
	trailer    int64 // where the trailer lies; 0 in version 1, which has none
}

// noteOffset returns where the second note lies, or 0.
func (s *superblock) noteOffset() int64 {
	if s.trailer == 0 {
		return 0
	}
	return s.trailer + PageSize
}

// fixedEnd returns the end of what is neither a record nor free.
func (s *superblock) fixedEnd() int64 {
	end := int64(headSize)
	for _, e := range s.reserved() {
		end = max(end, e.End())
	}
	return end
}

// reserved returns the ranges that are not for records, in no order.
func (s *superblock) reserved() []Extent {
	ranges := append([]Extent{{0, headSize}}, s.extents...)
	if s.trailer > 0 {
		ranges = append(ranges, Extent{s.trailer, trailerSize})
	}
	return ranges
}

// A slot's fields. Magic, version and checksum stay where they are in every
// later format, so that a newer file is told from a damaged one.
const (
	sbVersion    = 16
	sbPageSize   = 20
	sbGeneration = 24
	sbIdentity   = 32
	sbTail       = 48
	sbReserved   = 56
	sbExtents    = 60
	sbList       = 64
	sbTrailer    = PageSize - 12
	sbChecksum   = PageSize - 4

	extentSize = 16
	maxExtents = (sbTrailer - sbList) / extentSize
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encode returns the bytes of a slot.
func (s *superblock) encode() []byte {
	p := make([]byte, PageSize)
	copy(p, magic)
	binary.LittleEndian.PutUint32(p[sbVersion:], s.version)
	binary.LittleEndian.PutUint32(p[sbPageSize:], PageSize)
	binary.LittleEndian.PutUint64(p[sbGeneration:], s.generation)
	copy(p[sbIdentity:], s.identity[:])
	binary.LittleEndian.PutUint64(p[sbTail:], uint64(s.tail))
	binary.LittleEndian.PutUint32(p[sbReserved:], ReservedBytes)
	binary.LittleEndian.PutUint32(p[sbExtents:], uint32(len(s.extents)))
	for i, e := range s.extents {
		binary.LittleEndian.PutUint64(p[sbList+i*extentSize:], uint64(e.Offset))
		binary.LittleEndian.PutUint64(p[sbList+i*extentSize+8:], uint64(e.Size))
	}
	binary.LittleEndian.PutUint64(p[sbTrailer:], uint64(s.trailer))
	binary.LittleEndian.PutUint32(p[sbChecksum:], crc32.Checksum(p[:sbChecksum], castagnoli()))
	return p
}

// decodeSlot reads one slot. The error is ErrNotDatabase when the slot does not
// begin with the magic, ErrNewer when it is whole but of a later version, and
// ErrDamaged otherwise.
func decodeSlot(p []byte) (*superblock, error) {
	if len(p) < len(magic) || string(p[:len(magic)]) != magic {
		return nil, ErrNotDatabase
	}
	if len(p) != PageSize {
		return nil, fmt.Errorf("%w: a slot of %d bytes", ErrDamaged, len(p))
	}
	if crc32.Checksum(p[:sbChecksum], castagnoli()) != binary.LittleEndian.Uint32(p[sbChecksum:]) {
		return nil, fmt.Errorf("%w: checksum does not match", ErrDamaged)
	}
	v := binary.LittleEndian.Uint32(p[sbVersion:])
	switch {
	case v < oldestVersion:
		return nil, fmt.Errorf("%w: format version %d does not exist", ErrDamaged, v)
	case v > FormatVersion:
		return nil, fmt.Errorf("%w: version %d, this software knows %d; use a newer one", ErrNewer, v, FormatVersion)
	}
	if n := binary.LittleEndian.Uint32(p[sbPageSize:]); n != PageSize {
		return nil, fmt.Errorf("%w: pages of %d bytes", ErrDamaged, n)
	}
	if n := binary.LittleEndian.Uint32(p[sbReserved:]); n != ReservedBytes {
		return nil, fmt.Errorf("%w: %d reserved bytes a page", ErrDamaged, n)
	}
	s := &superblock{
		version:    v,
		generation: binary.LittleEndian.Uint64(p[sbGeneration:]),
		identity:   [16]byte(p[sbIdentity:]),
		tail:       int64(binary.LittleEndian.Uint64(p[sbTail:])),
	}
	if v > 1 {
		s.trailer = int64(binary.LittleEndian.Uint64(p[sbTrailer:]))
	}
	n := binary.LittleEndian.Uint32(p[sbExtents:])
	if n == 0 || n > maxExtents {
		return nil, fmt.Errorf("%w: %d extents", ErrDamaged, n)
	}
	for i := range int(n) {
		s.extents = append(s.extents, Extent{
			Offset: int64(binary.LittleEndian.Uint64(p[sbList+i*extentSize:])),
			Size:   int64(binary.LittleEndian.Uint64(p[sbList+i*extentSize+8:])),
		})
	}
	if err := s.extents.check(s.tail); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := s.checkTrailer(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return s, nil
}

// checkTrailer says whether the trailer can lie where it does.
func (s *superblock) checkTrailer() error {
	switch {
	case s.trailer == 0:
		return nil
	case s.trailer%PageSize != 0 || s.trailer > s.tail-trailerSize:
		return fmt.Errorf("no trailer can lie at %d", s.trailer)
	}
	for _, e := range s.extents {
		if s.trailer < e.End() {
			return fmt.Errorf("the trailer at %d lies before the end of an extent", s.trailer)
		}
	}
	return nil
}

// slotReader reads the slots of a file, whole or cut.
type slotReader func(p []byte, off int64) (n int, err error)

// readSuperblock returns the newest whole superblock and the slot that holds
// it. damaged says that the other slot is not a whole copy of some generation.
func readSuperblock(read slotReader) (s *superblock, slot int, damaged bool, err error) {
	var refusal error
	p := make([]byte, PageSize)
	for i := range slots {
		n, readErr := read(p, int64(i)*PageSize)
		if n < PageSize && !isEOF(readErr) {
			return nil, 0, false, fmt.Errorf("read the superblock: %w", readErr)
		}
		found, slotErr := decodeSlot(p[:n])
		switch {
		case slotErr != nil:
			damaged = true
			refusal = worse(refusal, slotErr)
		case s == nil || found.generation > s.generation:
			s, slot = found, i
		}
	}
	// A newer slot beside an old one is what an upgrade leaves: it decides.
	if s == nil || isNewer(refusal) {
		return nil, 0, false, refusal
	}
	return s, slot, damaged, nil
}

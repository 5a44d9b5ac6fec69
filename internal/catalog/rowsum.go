package catalog

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// rowsum collects what the checksum of a row covers: its table's letter, then
// its columns. Its buffer comes from a pool, since crc32 makes it escape and
// look-ups are many.
type rowsum struct{ buf []byte }

// sums is that pool: a cache without state.
var sums = sync.Pool{New: func() any { return new(rowsum) }}

func newRowsum(table byte) *rowsum {
	s := sums.Get().(*rowsum)
	s.buf = append(s.buf[:0], table)
	return s
}

func (s *rowsum) ints(values ...int64) *rowsum {
	for _, v := range values {
		s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(v))
	}
	return s
}

func (s *rowsum) text(v string) *rowsum {
	s.buf = append(s.ints(int64(len(v))).buf, v...)
	return s
}

func (s *rowsum) bytes(b []byte) *rowsum {
	s.buf = append(s.ints(int64(len(b))).buf, b...)
	return s
}

// sum returns the checksum; s must not be used afterwards.
func (s *rowsum) sum() int64 {
	crc := crc32.Checksum(s.buf, crc32.MakeTable(crc32.Castagnoli))
	if cap(s.buf) <= 64<<10 {
		sums.Put(s)
	}
	return int64(crc)
}

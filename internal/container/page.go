package container

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// pageSums computes the checksums of a file's pages. The file's identity and
// the page's number go in first: a page that was copied over another, or that
// comes from another database, does not match.
type pageSums struct{ seed uint32 }

func newPageSums(identity [16]byte) pageSums {
	return pageSums{crc32.Checksum(identity[:], castagnoli())}
}

// sum returns the checksum of a page; off is its offset in SQLite's database.
func (s pageSums) sum(page []byte, off int64) uint32 {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(off/PageSize+1))
	sum := crc32.Update(s.seed, castagnoli(), number[:])
	return crc32.Update(sum, castagnoli(), page[:PageSize-ReservedBytes])
}

// stamp writes the checksum into a page's reserved bytes.
func (s pageSums) stamp(page []byte, off int64) {
	binary.LittleEndian.PutUint32(page[PageSize-ReservedBytes:], s.sum(page, off))
}

// check reports whether a page is the one that was written at off.
func (s pageSums) check(page []byte, off int64) bool {
	return binary.LittleEndian.Uint32(page[PageSize-ReservedBytes:]) == s.sum(page, off)
}

// firstPage returns the first page of an empty SQLite database: one page, write
// ahead log, our reserved bytes, UTF-8, no tables. Made here, no connection ever
// has to choose these settings. See "Database File Format" of SQLite's manual.
func firstPage() []byte {
	p := make([]byte, PageSize)
	copy(p, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(p[16:], PageSize)
	p[18], p[19] = 2, 2 // write-ahead log, for writing and reading
	p[20] = ReservedBytes
	p[21], p[22], p[23] = 64, 32, 32
	binary.BigEndian.PutUint32(p[24:], 1) // change counter
	binary.BigEndian.PutUint32(p[28:], 1) // size in pages
	binary.BigEndian.PutUint32(p[44:], 4) // schema format
	binary.BigEndian.PutUint32(p[56:], 1) // UTF-8
	binary.BigEndian.PutUint32(p[92:], 1) // the counter for which the size is valid
	p[100] = 13                           // an empty leaf of a table
	binary.BigEndian.PutUint16(p[105:], PageSize-ReservedBytes)
	return p
}

// sqliteSize returns the size of SQLite's database in bytes, as its first page
// has it.
func sqliteSize(first []byte) (int64, error) {
	pages := int64(binary.BigEndian.Uint32(first[28:]))
	if pages == 0 || string(first[:16]) != "SQLite format 3\x00" {
		return 0, fmt.Errorf("%w: the first one is not SQLite's", ErrPage)
	}
	return pages * PageSize, nil
}

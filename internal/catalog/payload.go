package catalog

import (
	"encoding/binary"

	"github.com/ncruces/go-sqlite3"

	"github.com/stardustdb/stardust/internal/digest"
)

// Payload is a published byte sequence.
type Payload struct {
	ID     int64 // row id
	Digest digest.Digest
	Size   int64 // in bytes
	Chunks int64
	// Chunk is the row id of its only chunk, when it has just one.
	Chunk int64
}

func (p *Payload) sum() *rowsum {
	return newRowsum('p').ints(p.ID, p.Size, p.Chunks, p.Chunk).bytes(p.Digest[:])
}

const payloadColumns = `digest, size, chunks, chunk, crc, id`

// scanPayload reads digest, size, chunks, chunk and crc from column i on; the
// caller has set the ID.
func scanPayload(s *sqlite3.Stmt, p *Payload, i int) error {
	digest := s.ColumnRawBlob(i)
	if len(digest) != 32 {
		return corrupt("payload row %d: digest of %d bytes", p.ID, len(digest))
	}
	copy(p.Digest[:], digest)
	p.Size = s.ColumnInt64(i + 1)
	p.Chunks = s.ColumnInt64(i + 2)
	p.Chunk = s.ColumnInt64(i + 3)
	if p.sum().sum() != s.ColumnInt64(i+4) {
		return corrupt("payload row %d: row checksum differs", p.ID)
	}
	return nil
}

// segmentEntries is how many manifest entries one row holds at most, so that
// a manifest of any length is read and written in bounded memory.
const segmentEntries = 1024

// Segment is a run of a payload's manifest.
type Segment struct {
	Start   int64 // offset of its first byte in the payload
	Entries []Entry
}

// End is the offset after the segment's last byte.
func (s *Segment) End() int64 {
	end := s.Start
	for _, e := range s.Entries {
		end += e.Size
	}
	return end
}

// Entry is one chunk of a manifest.
type Entry struct {
	Chunk int64 // row id
	Size  int64 // in bytes
}

func encodeEntries(b []byte, entries []Entry) []byte {
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.Chunk))
		b = binary.AppendUvarint(b, uint64(e.Size))
	}
	return b
}

func segmentSum(payload, start int64, entries []byte) *rowsum {
	return newRowsum('m').ints(payload, start).bytes(entries)
}

// decodeEntries decodes a manifest row. Sizes are positive and their sum does
// not overflow.
func decodeEntries(b []byte, start int64) ([]Entry, error) {
	entries := make([]Entry, 0, min(segmentEntries, len(b)/2))
	end := start
	for len(b) > 0 {
		chunk, n := binary.Uvarint(b)
		if n <= 0 || chunk == 0 || chunk >= uint64(forever) {
			return nil, corrupt("malformed manifest entry")
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size == 0 || size > uint64(forever-end) {
			return nil, corrupt("malformed manifest entry")
		}
		b = b[n:]
		end += int64(size)
		if len(entries) == segmentEntries {
			return nil, corrupt("manifest row of more than %d entries", segmentEntries)
		}
		entries = append(entries, Entry{int64(chunk), int64(size)})
	}
	return entries, nil
}

package slatedb

import (
	"fmt"

	"github.com/oklog/ulid/v2"
)

// SST is a compacted SST as metadata describes it. Its object is
// compacted/<ulid>.sst under the root of the database that wrote it; it is
// written once and never changed.
type SST struct {
	ID ulid.ULID
	// FormatVersion is the format of the SST's bytes; 1 when the metadata
	// does not say.
	FormatVersion uint16
	Info          SSTInfo
}

// SSTInfo locates the parts of an SST. All offsets and lengths are in bytes.
type SSTInfo struct {
	// FirstEntry and LastEntry are the SST's first and last key; LastEntry is
	// nil where the writer did not record it.
	FirstEntry, LastEntry   []byte
	IndexOffset, IndexLen   uint64
	FilterOffset, FilterLen uint64
	Compression             Compression
	Type                    SSTType
}

// SSTView is the part of an SST that a tree shows.
type SSTView struct {
	// ID names the view. In manifests of version 1, which have no views, it is
	// the SST's own ID.
	ID  ulid.ULID
	SST *SST
	// Visible narrows the view to a range of keys; nil means the whole SST.
	Visible *KeyRange
}

// KeyRange is a range of keys.
type KeyRange struct{ Start, End Bound }

// Bound is one end of a [KeyRange].
type Bound struct {
	Kind BoundKind
	Key  []byte // nil when unbounded
}

// BoundKind says whether a bound's own key belongs to the range.
type BoundKind int8

// The kinds that SlateDB writes.
const (
	Unbounded BoundKind = 1
	Included  BoundKind = 2
	Excluded  BoundKind = 3
)

// SSTType says what an SST holds.
type SSTType int8

const (
	// TypeCompacted SSTs hold L0 and sorted runs. They are what a mirror keeps.
	TypeCompacted SSTType = 0
	// TypeWAL SSTs hold the write-ahead log, under wal/.
	TypeWAL SSTType = 1
)

// String returns the type's name in SlateDB's schema.
func (t SSTType) String() string { return enumName("SstType", int(t), "Compacted", "Wal") }

// Compression is how the blocks of an SST are compressed.
type Compression int8

// String returns the format's name in SlateDB's schema.
func (c Compression) String() string {
	return enumName("CompressionFormat", int(c), "None", "Snappy", "Zlib", "Lz4", "Zstd")
}

// enumName names a value of an enumeration that a newer SlateDB may have
// extended.
func enumName(of string, value int, names ...string) string {
	if value >= 0 && value < len(names) {
		return names[value]
	}
	return fmt.Sprintf("%s(%d)", of, value)
}

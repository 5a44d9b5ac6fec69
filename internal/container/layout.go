package container

// The layout of a file. Everything is little endian.
const (
	// FormatVersion is the version of the layout that this package writes. It
	// reads version 1 too, and writes such a file on as one of this version.
	FormatVersion = 2

	oldestVersion = 1

	// PageSize is the size of SQLite's pages, of a superblock's slot and of the
	// holder's note, in bytes. Extents are aligned to it.
	PageSize = 4096

	// ReservedBytes is what SQLite leaves to us at the end of each page. It must
	// not be 8: the driver would take these bytes for its own checksum.
	ReservedBytes = 4

	slots      = 2
	holderOff  = slots * PageSize
	headSize   = holderOff + PageSize // the first byte of extents and records
	recordUnit = 64                   // records begin at multiples of this

	// The trailer lies behind the last extent: a copy of the superblock, and
	// the second note at the beginning of a page of its own.
	trailerSize = 2 * PageSize

	// An extent is at least minExtent bytes, or the eighth part of what SQLite
	// has already. At that growth the list of extents never outgrows its slot.
	minExtent  = 256 << 10
	growthPart = 8
)

// magic begins both slots. Like PNG's signature it contains bytes that any
// conversion of line ends or to 7 bits would change.
const magic = "\x89Stardust DB\r\n\x1a\n"

func align(n, unit int64) int64 {
	return (n + unit - 1) / unit * unit
}

package fbverify

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// MaxDepth is how many tables may nest.
const MaxDepth = 64

// The smallest sizes of things, in bytes.
const (
	offsetSize      = 4 // an offset, a length, or the reference to a vtable
	vtableHeader    = 4 // the vtable's own size and its table's
	vtableEntrySize = 2
)

// A writer refers to each table by an offset of its own, so there are at most a
// quarter as many tables as bytes. The few more are for tiny buffers. Bytes of
// vectors and strings may be shared a little: a writer may pool equal strings.
const (
	spareTables = 16
	byteFactor  = 4
	spareBytes  = 4096
)

// Verify checks that buf is a FlatBuffer without size prefix whose root is the
// given table, as far as the description goes. It returns nil or an [*Error].
// It allocates nothing unless there is an error, and takes time proportional to
// the length of buf.
func Verify(buf []byte, root *Table) error {
	if uint64(len(buf)) > math.MaxInt32 {
		return &Error{root.Name, 0, fmt.Sprintf("%d bytes, more than a FlatBuffer can have", len(buf))}
	}
	v := verifier{
		buf:    buf,
		tables: len(buf)/offsetSize + spareTables,
		bytes:  byteFactor*uint64(len(buf)) + spareBytes,
	}
	at, err := v.follow(0)
	if err == nil {
		err = v.table(at, root, MaxDepth)
	}
	if err != nil {
		return err.within(root.Name)
	}
	return nil
}

// verifier is one walk. All positions are uint64, so that sums of a position
// and a 32-bit offset cannot overflow, on 32-bit machines either.
type verifier struct {
	buf    []byte
	tables int    // how many more may be visited
	bytes  uint64 // how many more bytes of vectors and strings may be visited
}

// fits reports whether n bytes at position at lie inside the buffer.
func (v *verifier) fits(at, n uint64) bool {
	return at <= uint64(len(v.buf)) && n <= uint64(len(v.buf))-at
}

// u16 and u32 read a number; the caller has checked that it fits.
func (v *verifier) u16(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint16(v.buf[at:]))
}

func (v *verifier) u32(at uint64) uint64 {
	return uint64(binary.LittleEndian.Uint32(v.buf[at:]))
}

func fail(at uint64, format string, args ...any) *Error {
	return &Error{Offset: int(at), Reason: fmt.Sprintf(format, args...)}
}

// follow returns where the offset at position at points. What it points at is
// at least four bytes: a table or a vector.
func (v *verifier) follow(at uint64) (uint64, *Error) {
	if !v.fits(at, offsetSize) {
		return 0, fail(at, "the buffer of %d bytes ends before the offset does", len(v.buf))
	}
	to := at + v.u32(at)
	if !v.fits(to, offsetSize) {
		return 0, fail(at, "offset to %d, beyond the end at %d", to, len(v.buf))
	}
	return to, nil
}

// table checks the table at position at, which has room for four bytes.
func (v *verifier) table(at uint64, t *Table, depth int) *Error {
	if v.tables--; v.tables < 0 {
		return fail(at, "more tables than a buffer of %d bytes can have unless they are shared", len(v.buf))
	}
	if depth == 0 {
		return fail(at, "more than %d tables inside each other", MaxDepth)
	}
	// The reference to the vtable is signed and counts backward.
	back := int64(int32(uint32(v.u32(at))))
	vtable := uint64(int64(at) - back)
	if int64(at)-back < 0 || !v.fits(vtable, vtableHeader) {
		return fail(at, "vtable outside the buffer")
	}
	// The table's own size, which the vtable has too, proves nothing: builders
	// share a vtable between tables whose fields begin at the same places, and
	// some do so even where the last fields differ in size. Nobody reads it.
	vtableSize := v.u16(vtable)
	if vtableSize < vtableHeader || vtableSize%vtableEntrySize != 0 || !v.fits(vtable, vtableSize) {
		return fail(vtable, "vtable of %d bytes", vtableSize)
	}
	slots := tableSlots{at, vtable, vtableSize}
	for i := range t.Fields {
		if err := v.field(slots, &t.Fields[i], depth); err != nil {
			return err.within("." + t.Fields[i].Name)
		}
	}
	return nil
}

// tableSlots is a checked table and its checked vtable.
type tableSlots struct{ at, vtable, vtableSize uint64 }

// slot returns the position of a field of n bytes, or zero when it is absent.
// No table begins at zero, where the root's offset is.
func (v *verifier) slot(s tableSlots, id int, n uint64) (uint64, *Error) {
	entry := vtableHeader + uint64(id)*vtableEntrySize
	if entry >= s.vtableSize {
		return 0, nil
	}
	offset := v.u16(s.vtable + entry)
	switch {
	case offset == 0:
		return 0, nil
	case offset < offsetSize || !v.fits(s.at+offset, n):
		return 0, fail(s.vtable+entry, "field of %d bytes at %d, outside the table or the buffer", n, offset)
	}
	return s.at + offset, nil
}

func (v *verifier) field(s tableSlots, f *Field, depth int) *Error {
	n := uint64(offsetSize)
	if f.Kind == Scalar {
		n = uint64(f.Size)
	}
	at, err := v.slot(s, f.ID, n)
	switch {
	case err != nil:
		return err
	case at == 0 && f.Required:
		return fail(s.at, "missing")
	case at == 0 || f.Kind == Scalar:
		return nil
	}
	if f.Kind == OneOf {
		return v.oneOf(s, f, at, depth)
	}
	to, err := v.follow(at)
	if err != nil {
		return err
	}
	switch f.Kind {
	case Child:
		return v.table(to, f.Table, depth-1)
	case Children:
		return v.children(to, f.Table, depth-1)
	default:
		return v.flat(to, f)
	}
}

// oneOf checks a union whose offset is at position at.
func (v *verifier) oneOf(s tableSlots, f *Field, at uint64, depth int) *Error {
	typeAt, err := v.slot(s, f.ID-1, 1)
	switch {
	case err != nil:
		return err
	case typeAt == 0:
		return fail(at, "a union without its type")
	}
	t, known := f.Types[v.buf[typeAt]]
	if !known {
		return nil
	}
	to, err := v.follow(at)
	if err != nil {
		return err
	}
	return v.table(to, t, depth-1)
}

// vector checks the vector at position at, of elements of n bytes, and returns
// the number of elements.
func (v *verifier) vector(at, n uint64) (uint64, *Error) {
	count := v.u32(at)
	if !v.fits(at+offsetSize, count*n) {
		return 0, fail(at, "vector of %d elements of %d bytes, beyond the end at %d", count, n, len(v.buf))
	}
	if count*n > v.bytes {
		return 0, fail(at, "more bytes than a buffer of %d can have unless they are shared", len(v.buf))
	}
	v.bytes -= count * n
	return count, nil
}

// children checks a vector of tables.
func (v *verifier) children(at uint64, t *Table, depth int) *Error {
	count, err := v.vector(at, offsetSize)
	if err != nil {
		return err
	}
	for i := range count {
		to, err := v.follow(at + offsetSize + i*offsetSize)
		if err == nil {
			err = v.table(to, t, depth)
		}
		if err != nil {
			return err.within(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

// flat checks a string or a vector of numbers.
func (v *verifier) flat(at uint64, f *Field) *Error {
	n := uint64(1)
	if f.Kind == Scalars {
		n = uint64(f.Size)
	}
	count, err := v.vector(at, n)
	if err != nil {
		return err
	}
	start := at + offsetSize
	if f.Kind == String && !utf8.Valid(v.buf[start:start+count]) {
		return fail(start, "text that is not UTF-8")
	}
	return nil
}

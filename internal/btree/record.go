package btree

import "encoding/binary"

// maxRecord bounds what is allocated for a record. The largest of ours, a commit
// of 4096 nodes with names of 4096 bytes, has about 17 MB.
const maxRecord = 256 << 20

// maxValues bounds how many columns a record has: ours have up to 9, and a damaged
// page can say that every cell has thousands.
const maxValues = 64

// Type is the type of a value.
type Type byte

// The types that our tables use; others are Other.
const (
	Null Type = iota
	Int
	Blob
	Other
)

// Value is one column of a record. Blob shares memory with the page or record
// that it was read from.
type Value struct {
	Type Type
	Int  int64
	Blob []byte
}

// decode reads a record: a header with the type of every value, then the values.
func decode(b []byte) ([]Value, bool) {
	size, n := varint(b)
	if n == 0 || size < int64(n) || size > int64(len(b)) {
		return nil, false
	}
	types, body := b[n:size], b[size:]
	var values []Value
	for len(types) > 0 {
		t, n := varint(types)
		if n == 0 || len(values) == maxValues {
			return nil, false
		}
		types = types[n:]
		v, used, ok := decodeValue(t, body)
		if !ok {
			return nil, false
		}
		values, body = append(values, v), body[used:]
	}
	return values, len(body) == 0
}

func decodeValue(t int64, body []byte) (Value, int, bool) {
	switch {
	case t == 0:
		return Value{}, 0, true
	case t >= 1 && t <= 6:
		size := [...]int{0, 1, 2, 3, 4, 6, 8}[t]
		if size > len(body) {
			return Value{}, 0, false
		}
		v := int64(int8(body[0]))
		for _, b := range body[1:size] {
			v = v<<8 | int64(b)
		}
		return Value{Type: Int, Int: v}, size, true
	case t == 7:
		return Value{Type: Other}, 8, len(body) >= 8
	case t == 8 || t == 9:
		return Value{Type: Int, Int: t - 8}, 0, true
	case t >= 12:
		size := (t - 12) / 2
		if size > int64(len(body)) {
			return Value{}, 0, false
		}
		kind := Blob
		if t%2 == 1 {
			kind = Other // text
		}
		return Value{Type: kind, Blob: body[:size]}, int(size), true
	}
	return Value{}, 0, false
}

// varint reads one of SQLite's integers of 1 to 9 bytes. It returns 0 bytes when
// b ends within.
func varint(b []byte) (int64, int) {
	v := uint64(0)
	for i := range min(9, len(b)) {
		if i == 8 {
			return int64(v<<8 | uint64(b[8])), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}

// FreePages returns the pages of the free list, and whether all of it could be
// read. First is the database's first page.
func FreePages(first []byte, usable int, read Reader) (free map[uint32]bool, whole bool) {
	free = make(map[uint32]bool)
	trunk := binary.BigEndian.Uint32(first[32:])
	for trunk != 0 {
		page, ok := read(trunk)
		if !ok || free[trunk] || len(page) < usable {
			return free, false
		}
		free[trunk] = true
		n := int(binary.BigEndian.Uint32(page[4:]))
		if n < 0 || n > usable/4-2 {
			return free, false
		}
		for i := range n {
			free[binary.BigEndian.Uint32(page[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return free, true
}

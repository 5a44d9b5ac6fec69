package btree

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// leaf makes a page of a table: each record is a header of types and a body, and
// goes on at page 3 when it is large. SQLite is not needed for that, and fuzzing with
// it compiled in begins minutes later.
func leaf(kind Kind, records ...[]byte) []byte {
	page := make([]byte, 4096)
	page[0] = byte(kind)
	binary.BigEndian.PutUint16(page[3:], uint16(len(records)))
	p := Page{Kind: kind, usable: 4092}
	end := 4092
	for i, record := range records {
		cell := []byte{byte(len(record))}
		if n := len(record); n > 127 {
			cell = []byte{0x80 | byte(n>>7), byte(n & 0x7f)}
		}
		if kind == TableLeaf {
			cell = append(cell, byte(i+1)) // row
		}
		local := p.local(len(record))
		cell = append(cell, record[:local]...)
		if local < len(record) {
			cell = binary.BigEndian.AppendUint32(cell, 3)
		}
		end -= len(cell)
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[p.headSize()+2*i:], uint16(end))
	}
	return page
}

func record(types, body []byte) []byte {
	return append(append([]byte{byte(len(types) + 1)}, types...), body...)
}

// FuzzCells reads pages that anybody may have written: none makes it panic, and none
// makes it read for long.
func FuzzCells(f *testing.F) {
	ints := record([]byte{0, 1, 4, 8, 9}, []byte{7, 0, 0, 1, 0})
	blob := record([]byte{0, 16, 13}, []byte("abx"))
	large := record([]byte{0, 0xa0, 0x0c}, make([]byte, 2048))
	f.Add(leaf(TableLeaf, ints, blob, large))
	f.Add(leaf(IndexLeaf, ints, blob, large))
	f.Add(append([]byte{byte(TableInterior), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 9, 15, 0xf0}, make([]byte, 4082)...))
	f.Add(leaf(TableLeaf, record(make([]byte, 100), nil))) // more columns than any of ours has
	f.Add(make([]byte, 4096))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(data, make([]byte, max(0, 4096-len(data)))...)
		again := func(n uint32) ([]byte, bool) { return data, n%3 != 0 }
		for _, n := range []uint32{1, 2} {
			page, ok := Parse(n, data, 4)
			if !ok {
				continue
			}
			_ = page.Children()
			for c := range page.Cells(again) {
				if len(c.Values) > maxValues {
					t.Fatalf("a row of %d columns", len(c.Values))
				}
			}
		}
		_, _ = FreePages(data, 4092, again)
		_, _ = varint(binary.BigEndian.AppendUint64(nil, 1<<63))
	})
}

// TestCellsOfAPage reads the pages that the fuzzer begins with, and finds what was put
// there.
func TestCellsOfAPage(t *testing.T) {
	large := make([]byte, 2048)
	large[2047] = 5
	wide := record(make([]byte, 100), nil)
	page := leaf(TableLeaf, record([]byte{0, 1, 8}, []byte{7}), wide, record([]byte{0, 0xa0, 0x0c}, large))
	p, ok := Parse(2, page, 4)
	if !ok {
		t.Fatal("it is no page")
	}
	var rows []int64
	for c := range p.Cells(func(uint32) ([]byte, bool) { return nil, false }) {
		rows = append(rows, c.Row)
		if c.Row == 1 && (len(c.Values) != 3 || c.Values[1].Int != 7 || c.Values[2].Int != 0) ||
			c.Row == 3 && !bytes.Equal(c.Values[1].Blob, large) {
			t.Errorf("row %d: %v", c.Row, c.Values)
		}
	}
	if len(rows) != 2 || rows[0] != 1 || rows[1] != 3 {
		t.Errorf("rows %v", rows)
	}
}

package btree

import (
	"encoding/binary"
	"iter"
)

// Kind is what a page is for, by its first byte.
type Kind byte

// The kinds of pages that have cells.
const (
	IndexInterior Kind = 2
	TableInterior Kind = 5
	IndexLeaf     Kind = 10
	TableLeaf     Kind = 13
)

// Reader returns the bytes of a page, counted from 1, or false when it is lost.
type Reader func(number uint32) ([]byte, bool)

// Page is a page with cells.
type Page struct {
	Kind   Kind
	data   []byte
	usable int // the page's size without the reserved bytes at its end
	head   int // where the page's header begins
	cells  int
}

const databaseHeader = 100 // on the first page

// Parse looks at a page, with reserved bytes at its end. It returns false when
// it has no cells, such as one of the free list.
func Parse(number uint32, data []byte, reserved int) (Page, bool) {
	p := Page{data: data, usable: len(data) - reserved}
	if number == 1 {
		p.head = databaseHeader
	}
	if len(data) < 512 || reserved < 0 || p.usable < 480 {
		return p, false
	}
	p.Kind = Kind(data[p.head])
	p.cells = int(binary.BigEndian.Uint16(data[p.head+3:]))
	switch p.Kind {
	case IndexInterior, TableInterior, IndexLeaf, TableLeaf:
	default:
		return p, false
	}
	return p, p.head+p.headSize()+2*p.cells <= p.usable
}

func (p *Page) headSize() int {
	if p.Kind == IndexInterior || p.Kind == TableInterior {
		return 12
	}
	return 8
}

// Children returns the pages that an interior page leads to, in order.
func (p *Page) Children() []uint32 {
	if p.headSize() == 8 {
		return nil
	}
	var children []uint32
	for i := range p.cells {
		if at, ok := p.cell(i); ok && at+4 <= p.usable {
			children = append(children, binary.BigEndian.Uint32(p.data[at:]))
		}
	}
	return append(children, binary.BigEndian.Uint32(p.data[p.head+8:]))
}

func (p *Page) cell(i int) (int, bool) {
	at := int(binary.BigEndian.Uint16(p.data[p.head+p.headSize()+2*i:]))
	return at, at >= p.head+p.headSize() && at < p.usable
}

// Cell is one entry of a page.
type Cell struct {
	Row    int64 // of a table's leaf
	Values []Value
}

// Cells yields the cells whose records are whole. What a record has on other
// pages is read with read.
func (p *Page) Cells(read Reader) iter.Seq[Cell] {
	return func(yield func(Cell) bool) {
		if p.Kind == TableInterior {
			return
		}
		for i := range p.cells {
			if at, ok := p.cell(i); ok {
				if c, ok := p.readCell(p.data[at:p.usable], read); ok && !yield(c) {
					return
				}
			}
		}
	}
}

func (p *Page) readCell(b []byte, read Reader) (c Cell, ok bool) {
	if p.Kind == IndexInterior {
		if len(b) < 4 {
			return c, false
		}
		b = b[4:]
	}
	size, n := varint(b)
	if n == 0 || size < 0 || size > maxRecord {
		return c, false
	}
	b = b[n:]
	if p.Kind == TableLeaf {
		if c.Row, n = varint(b); n == 0 {
			return c, false
		}
		b = b[n:]
	}
	record, ok := p.gather(b, int(size), read)
	if !ok {
		return c, false
	}
	c.Values, ok = decode(record)
	return c, ok
}

// gather puts a record together from its page and those that it overflows to.
func (p *Page) gather(b []byte, size int, read Reader) ([]byte, bool) {
	local := p.local(size)
	if local > len(b) {
		return nil, false
	}
	if local == size {
		return b[:size], true
	}
	if local+4 > len(b) {
		return nil, false
	}
	// A size that is wrong is noticed before much is allocated for it.
	record := append(make([]byte, 0, min(size, local+p.usable)), b[:local]...)
	next := binary.BigEndian.Uint32(b[local:])
	seen := make(map[uint32]bool)
	for len(record) < size {
		page, ok := read(next)
		if next == 0 || seen[next] || !ok || len(page) < p.usable {
			return nil, false
		}
		seen[next] = true
		record = append(record, page[4:4+min(p.usable-4, size-len(record))]...)
		next = binary.BigEndian.Uint32(page)
	}
	return record, true
}

// local returns how many bytes of a record lie on the page itself.
func (p *Page) local(size int) int {
	most := p.usable - 35
	if p.Kind != TableLeaf {
		most = (p.usable-12)*64/255 - 23
	}
	if size <= most {
		return size
	}
	least := (p.usable-12)*32/255 - 23
	if n := least + (size-least)%(p.usable-4); n <= most {
		return n
	}
	return least
}

// Len returns how many cells the page has.
func (p *Page) Len() int { return p.cells }

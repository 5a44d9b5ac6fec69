package fileindex

import (
	"encoding/binary"
	"errors"
)

// Kind is what an entry is.
type Kind byte

// The kinds.
const (
	File Kind = iota
	Directory
	Link
)

// Entry is a file, directory or symbolic link of a directory.
type Entry struct {
	Name string
	Kind Kind
	// Racy says that it had changed so shortly before it was looked at that it
	// may have changed again without a sign.
	Racy bool

	Size  int64  // in bytes
	MTime int64  // nanoseconds since 1970
	CTime int64  // nanoseconds since 1970
	Inode uint64 // number within its file system
	Mode  uint32 // permissions, as package attributes has them

	Entity   int64 // the node that it became
	Revision int64 // the node's
}

const racyBit = 0x80

// appendEntry encodes an entry.
func appendEntry(b []byte, e *Entry) []byte {
	kind := byte(e.Kind)
	if e.Racy {
		kind |= racyBit
	}
	b = binary.AppendUvarint(b, uint64(len(e.Name)))
	b = append(b, e.Name...)
	b = append(b, kind)
	b = binary.AppendUvarint(b, uint64(e.Size))
	b = binary.AppendVarint(b, e.MTime)
	b = binary.AppendVarint(b, e.CTime-e.MTime)
	b = binary.AppendUvarint(b, e.Inode)
	b = binary.AppendUvarint(b, uint64(e.Mode))
	b = binary.AppendUvarint(b, uint64(e.Entity))
	return binary.AppendUvarint(b, uint64(e.Revision))
}

var errDamaged = errors.New("the index is damaged")

// decodeEntries decodes a block, whose names stay parts of it.
func decodeEntries(block string, into []Entry) ([]Entry, error) {
	d := decoder{rest: block}
	for d.rest != "" {
		e := Entry{Name: d.text()}
		kind := d.byte()
		e.Kind, e.Racy = Kind(kind&^racyBit), kind&racyBit != 0
		e.Size = int64(d.unsigned())
		e.MTime = d.signed()
		e.CTime = e.MTime + d.signed()
		e.Inode = d.unsigned()
		e.Mode = uint32(d.unsigned())
		e.Entity = int64(d.unsigned())
		e.Revision = int64(d.unsigned())
		if d.bad || e.Kind > Link || e.Name == "" {
			return nil, errDamaged
		}
		into = append(into, e)
	}
	return into, nil
}

// decoder reads what appendEntry and the table's encoder wrote. After a failure
// bad is set and all values are zero.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) unsigned() uint64 {
	var v uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		c := d.rest[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.rest = d.rest[i+1:]
			return v
		}
	}
	return d.fail()
}

func (d *decoder) signed() int64 {
	u := d.unsigned()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

func (d *decoder) byte() byte {
	if d.rest == "" {
		return byte(d.fail())
	}
	c := d.rest[0]
	d.rest = d.rest[1:]
	return c
}

func (d *decoder) text() string {
	n := d.unsigned()
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) fail() uint64 {
	d.rest, d.bad = "", true
	return 0
}

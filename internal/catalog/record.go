package catalog

import (
	"encoding/binary"
	"time"
)

const (
	recordVersion = 1
	// maxFacts bounds what a decoder allocates for; a commit of 4096 nodes
	// has at most three facts each, and removals add as many.
	maxFacts = 1 << 20
)

// attributeCodes shorten the plugin's own attributes in a record. Code zero
// precedes a spelled-out name. The order is part of the format.
func attributeCode(name string) byte {
	switch name {
	case AttributeParent:
		return 1
	case AttributeName:
		return 2
	case AttributeDigest:
		return 3
	}
	return 0
}

func attributeName(code byte) string {
	switch code {
	case 1:
		return AttributeParent
	case 2:
		return AttributeName
	case 3:
		return AttributeDigest
	}
	return ""
}

// AppendRecord appends the transaction's one encoding to b: the same
// transaction always has the same bytes.
func AppendRecord(b []byte, t *Transaction) []byte {
	b = append(b, recordVersion)
	b = binary.AppendUvarint(b, uint64(t.ID))
	b = binary.AppendVarint(b, t.Time.UnixNano())
	b = binary.AppendUvarint(b, uint64(len(t.Facts)))
	for i := range t.Facts {
		f := &t.Facts[i]
		b = binary.AppendUvarint(b, uint64(f.Entity))
		code := attributeCode(f.Attribute)
		b = append(b, code)
		if code == 0 {
			b = appendBytes(b, []byte(f.Attribute))
		}
		b = append(b, byte(f.Value.Kind))
		switch f.Value.Kind {
		case Retracted:
		case Int:
			b = binary.AppendVarint(b, f.Value.Int)
		case Text, JSON:
			b = appendBytes(b, f.Value.Bytes)
		case DigestValue:
			b = append(b, f.Value.Digest[:]...)
		}
	}
	return b
}

func appendBytes(b, s []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeRecord decodes a record. What it returns shares no memory with b.
// Anything but exactly one well-formed record is an error that wraps
// ErrCorrupt.
func DecodeRecord(b []byte) (*Transaction, error) {
	d := recordDecoder{b: b}
	if version := d.byte(); !d.bad && version != recordVersion {
		return nil, corrupt("record version %d, want %d", version, recordVersion)
	}
	t := &Transaction{ID: d.id()}
	t.Time = time.Unix(0, d.varint()).UTC()
	count := d.uvarint()
	// A fact takes at least three bytes, so the count can't exceed the rest.
	if count > maxFacts || count > uint64(len(d.b)) {
		d.bad = true
	}
	if !d.bad {
		t.Facts = make([]Fact, 0, count)
	}
	for i := uint64(0); i < count && !d.bad; i++ {
		t.Facts = append(t.Facts, d.fact())
	}
	if d.bad || len(d.b) != 0 {
		return nil, corrupt("malformed transaction record")
	}
	return t, nil
}

// recordDecoder takes values off the front of b; bad sticks.
type recordDecoder struct {
	b   []byte
	bad bool
}

func (d *recordDecoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return nil
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *recordDecoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *recordDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	// A longer encoding of the same value would be a second encoding.
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.bad = true
		return 0
	}
	d.take(uint64(n))
	return v
}

func (d *recordDecoder) varint() int64 {
	u := d.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

func (d *recordDecoder) id() int64 {
	v := d.uvarint()
	if v == 0 || v >= uint64(forever) {
		d.bad = true
	}
	return int64(v)
}

func (d *recordDecoder) bytes() []byte {
	return append([]byte(nil), d.take(d.uvarint())...)
}

func (d *recordDecoder) fact() Fact {
	// Facts of the root, which has no node, are of the database as a whole.
	root := len(d.b) > 0 && d.b[0] == 0
	var f Fact
	if root {
		d.take(1)
	} else {
		f.Entity = d.id()
	}
	code := d.byte()
	d.bad = d.bad || root && code != 0
	if code == 0 {
		f.Attribute = string(d.bytes())
		d.bad = d.bad || attributeCode(f.Attribute) != 0 || f.Attribute == ""
	} else if f.Attribute = attributeName(code); f.Attribute == "" {
		d.bad = true
	}
	f.Value.Kind = ValueKind(d.byte())
	switch f.Value.Kind {
	case Retracted:
	case Int:
		f.Value.Int = d.varint()
	case Text, JSON:
		f.Value.Bytes = d.bytes()
	case DigestValue:
		copy(f.Value.Digest[:], d.take(32))
	default:
		d.bad = true
	}
	return f
}

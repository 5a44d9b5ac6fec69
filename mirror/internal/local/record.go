package local

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/stardustdb/stardust/objectstore"
)

// The bits of a record's first byte. Others are of later versions: a record
// with one is not read.
const (
	recordHashed = 1 << iota
	recordModified
	recordAttributes
)

// appendRecord appends a local copy's record of the startup index.
func appendRecord(data []byte, path objectstore.Path, e *Entry) []byte {
	var flags byte
	if e.hashed {
		flags |= recordHashed
	}
	if e.modified != noTime {
		flags |= recordModified
	}
	if e.Attributes != nil {
		flags |= recordAttributes
	}
	data = append(data, flags)
	data = appendText(data, string(path))
	data = appendText(data, e.ETag())
	data = appendText(data, e.Version())
	data = binary.AppendUvarint(data, uint64(e.Size))
	data = binary.AppendVarint(data, e.dataTime)
	data = binary.AppendVarint(data, e.metaTime)
	data = binary.AppendUvarint(data, uint64(e.metaSize))
	if e.modified != noTime {
		data = binary.AppendVarint(data, e.modified)
	}
	if a := e.Attributes; a != nil {
		for _, s := range []string{a.ContentType, a.ContentEncoding, a.ContentDisposition, a.ContentLanguage, a.CacheControl} {
			data = appendText(data, s)
		}
		data = binary.AppendUvarint(data, uint64(len(a.Metadata)))
		for _, key := range slices.Sorted(maps.Keys(a.Metadata)) {
			data = appendText(data, key)
			data = appendText(data, a.Metadata[key])
		}
	}
	return data
}

func appendText(data []byte, s string) []byte {
	data = binary.AppendUvarint(data, uint64(len(s)))
	return append(data, s...)
}

var errRecord = errors.New("malformed record")

// readRecord returns the first record of data, and what follows it.
func readRecord(data []byte) (path objectstore.Path, e *Entry, rest []byte, err error) {
	r := recordReader{data: data}
	flags := r.byte()
	pathText, etag, version := r.text(), r.text(), r.text()
	// One string for all, as there may be millions.
	all := string(pathText) + string(etag) + string(version)
	e = &Entry{
		labels: all[len(pathText):], etagSize: int32(len(etag)), modified: noTime,
		Size: r.size(), dataTime: r.varint(), metaTime: r.varint(), metaSize: r.size(),
		hashed: flags&recordHashed != 0,
	}
	if flags&recordModified != 0 {
		e.modified = r.varint()
	}
	if flags&recordAttributes != 0 {
		e.Attributes = r.attributes()
	}
	if r.bad || flags >= recordAttributes<<1 {
		return "", nil, nil, errRecord
	}
	path, err = objectstore.KeyPath(all[:len(pathText)])
	if err != nil {
		return "", nil, nil, err
	}
	return path, e, r.data, nil
}

// recordReader reads the parts of a record. After a part that is not there,
// bad is set and all parts are zero.
type recordReader struct {
	data []byte
	bad  bool
}

func (r *recordReader) fail() {
	r.data, r.bad = nil, true
}

func (r *recordReader) byte() byte {
	if len(r.data) == 0 {
		r.fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func (r *recordReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *recordReader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *recordReader) size() int64 {
	v := r.uvarint()
	if v > math.MaxInt64 {
		r.fail()
		return 0
	}
	return int64(v)
}

func (r *recordReader) text() []byte {
	n := r.uvarint()
	if n > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	s := r.data[:n]
	r.data = r.data[n:]
	return s
}

func (r *recordReader) attributes() *objectstore.Attributes {
	a := &objectstore.Attributes{}
	for _, s := range []*string{&a.ContentType, &a.ContentEncoding, &a.ContentDisposition, &a.ContentLanguage, &a.CacheControl} {
		*s = string(r.text())
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		if a.Metadata == nil {
			a.Metadata = map[string]string{}
		}
		key := string(r.text())
		a.Metadata[key] = string(r.text())
	}
	return a
}

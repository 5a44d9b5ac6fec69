package local

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

func sampleMetadata() []Metadata {
	return []Metadata{
		{},
		{Size: 5, Modified: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC), ETag: "e", Version: "v", Blocks: []uint32{1}},
		{Size: BlockSize + 1, ETag: `"quoted"`, Blocks: []uint32{0, 0xffffffff}, Attributes: objectstore.Attributes{ContentType: "<x>&\u2028"}},
		{Size: 1, ETag: "\xff\xfe", Version: "é", Attributes: objectstore.Attributes{CacheControl: "\x80", Metadata: map[string]string{"k\xe9": "\xe9", "": ""}}},
		{Size: 1 << 40, Attributes: objectstore.Attributes{
			ContentType: "1", ContentEncoding: "2", ContentDisposition: "3", ContentLanguage: "4", CacheControl: "5",
			Metadata: map[string]string{"a": "b"},
		}},
	}
}

func sameMetadata(a, b Metadata) bool {
	return a.Size == b.Size && a.Modified.Equal(b.Modified) && a.ETag == b.ETag && a.Version == b.Version &&
		bytes.Equal(blockBytes(a), blockBytes(b)) && sameAttributes(a.Attributes, b.Attributes)
}

func blockBytes(md Metadata) []byte {
	var raw []byte
	for _, crc := range md.Blocks {
		raw = append(raw, byte(crc), byte(crc>>8), byte(crc>>16), byte(crc>>24))
	}
	return raw
}

func sameAttributes(a, b objectstore.Attributes) bool {
	x, y := a, b
	x.Metadata, y.Metadata = nil, nil
	return isZeroAttributes(x) == isZeroAttributes(y) && x.ContentType == y.ContentType && x.ContentEncoding == y.ContentEncoding &&
		x.ContentDisposition == y.ContentDisposition && x.ContentLanguage == y.ContentLanguage && x.CacheControl == y.CacheControl &&
		maps.Equal(a.Metadata, b.Metadata)
}

func TestMetaRoundTrips(t *testing.T) {
	for i, md := range sampleMetadata() {
		path := objectstore.Path("a/é\n\u2028" + strings.Repeat("x", i))
		data, err := encodeMeta(path, md)
		if err != nil {
			t.Fatal(err)
		}
		got, back, err := DecodeMeta(data)
		if err != nil || got != path || !sameMetadata(md, back) {
			t.Errorf("%d: %s\n%q %+v, %v", i, data, got, back, err)
		}
	}
}

func TestEveryFlippedBitOfAMetaFileIsNoticed(t *testing.T) {
	data, err := encodeMeta("a/x", sampleMetadata()[1])
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		for bit := range 8 {
			spoilt := bytes.Clone(data)
			spoilt[i] ^= 1 << bit
			if _, _, err := DecodeMeta(spoilt); err == nil {
				t.Fatalf("byte %d bit %d: accepted %s", i, bit, spoilt)
			}
		}
	}
	for i := range data {
		if _, _, err := DecodeMeta(data[:i]); err == nil {
			t.Fatalf("accepted the first %d bytes", i)
		}
	}
}

func FuzzDecodeMeta(f *testing.F) {
	for _, md := range sampleMetadata() {
		data, err := encodeMeta("a/x", md)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)-metaTail])
	}
	f.Add([]byte(`{"format":1,"path":"a","size":-1`))
	f.Add([]byte(`{"format":1,"path":"a","size":70000,"block_size":65536,"block_crc32c":"AAAA"`))
	f.Add([]byte(`{"format":2,"path":"a"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		// As it is, and with a right checksum, so that what lies behind is
		// reached.
		_, _, _ = DecodeMeta(data)
		sealed := sealMeta(bytes.Clone(data))
		path, md, err := DecodeMeta(sealed)
		if err != nil {
			return
		}
		if _, err := objectstore.KeyPath(string(path)); err != nil || md.Size < 0 {
			t.Errorf("accepted path %q, size %d", path, md.Size)
		}
		if md.Blocks != nil && int64(len(md.Blocks)) != BlockCount(md.Size) {
			t.Errorf("accepted %d checksums for %d bytes", len(md.Blocks), md.Size)
		}
		again, err := encodeMeta(path, md)
		if err != nil {
			return // a time that JSON does not have
		}
		if back, md2, err := DecodeMeta(again); err != nil || back != path || !sameMetadata(md, md2) {
			t.Errorf("%q %+v came back as %q %+v, %v", path, md, back, md2, err)
		}
	})
}

package mirror

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

func sampleMetadata() []metadata {
	return []metadata{
		{},
		{size: 5, modified: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC), etag: "e", version: "v", blocks: []uint32{1}},
		{size: blockSize + 1, etag: `"quoted"`, blocks: []uint32{0, 0xffffffff}, attributes: objectstore.Attributes{ContentType: "<x>&\u2028"}},
		{size: 1, etag: "\xff\xfe", version: "é", attributes: objectstore.Attributes{CacheControl: "\x80", Metadata: map[string]string{"k\xe9": "\xe9", "": ""}}},
		{size: 1 << 40, attributes: objectstore.Attributes{
			ContentType: "1", ContentEncoding: "2", ContentDisposition: "3", ContentLanguage: "4", CacheControl: "5",
			Metadata: map[string]string{"a": "b"},
		}},
	}
}

func sameMetadata(a, b metadata) bool {
	return a.size == b.size && a.modified.Equal(b.modified) && a.etag == b.etag && a.version == b.version &&
		bytes.Equal(blockBytes(a), blockBytes(b)) && sameAttributes(a.attributes, b.attributes)
}

func blockBytes(md metadata) []byte {
	var raw []byte
	for _, crc := range md.blocks {
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
		got, back, err := decodeMeta(data)
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
			if _, _, err := decodeMeta(spoilt); err == nil {
				t.Fatalf("byte %d bit %d: accepted %s", i, bit, spoilt)
			}
		}
	}
	for i := range data {
		if _, _, err := decodeMeta(data[:i]); err == nil {
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
		_, _, _ = decodeMeta(data)
		sealed := sealMeta(bytes.Clone(data))
		path, md, err := decodeMeta(sealed)
		if err != nil {
			return
		}
		if _, err := objectstore.KeyPath(string(path)); err != nil || md.size < 0 {
			t.Errorf("accepted path %q, size %d", path, md.size)
		}
		if md.blocks != nil && int64(len(md.blocks)) != blockCount(md.size) {
			t.Errorf("accepted %d checksums for %d bytes", len(md.blocks), md.size)
		}
		again, err := encodeMeta(path, md)
		if err != nil {
			return // a time that JSON does not have
		}
		if back, md2, err := decodeMeta(again); err != nil || back != path || !sameMetadata(md, md2) {
			t.Errorf("%q %+v came back as %q %+v, %v", path, md, back, md2, err)
		}
	})
}

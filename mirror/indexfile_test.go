package mirror

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func sampleEntries() []indexed {
	attributes := &objectstore.Attributes{ContentType: "x", Metadata: map[string]string{"k\xff": "v", "": ""}}
	return []indexed{
		{"a/x", &entry{size: 5, modified: 123, labels: "ev", etagSize: 1, dataTime: 1, metaTime: 2, metaSize: 3}},
		{"a/é\n", &entry{size: math.MaxInt64, modified: noTime, dataTime: math.MinInt64, metaTime: math.MaxInt64, hashed: true}},
		{"b", &entry{attributes: attributes, modified: -5}},
	}
}

func same(a, b *entry) bool {
	if (a.attributes == nil) != (b.attributes == nil) {
		return false
	}
	if a.attributes != nil && !sameAttributes(*a.attributes, *b.attributes) {
		return false
	}
	return a.size == b.size && a.modified == b.modified && a.etag() == b.etag() && a.version() == b.version() &&
		a.dataTime == b.dataTime && a.metaTime == b.metaTime && a.metaSize == b.metaSize && a.hashed == b.hashed
}

func TestRecordsRoundTrip(t *testing.T) {
	var data []byte
	for _, x := range sampleEntries() {
		data = appendRecord(data, x.path, x.entry)
	}
	for _, x := range sampleEntries() {
		path, e, rest, err := readRecord(data)
		if err != nil || path != x.path || !same(e, x.entry) {
			t.Fatalf("%q %+v, %v; want %q %+v", path, e, err, x.path, x.entry)
		}
		data = rest
	}
	if len(data) != 0 {
		t.Errorf("%d bytes are left", len(data))
	}
}

func TestRecordsThatAreCutAreErrors(t *testing.T) {
	for _, x := range sampleEntries() {
		data := appendRecord(nil, x.path, x.entry)
		for i := range data {
			if _, _, _, err := readRecord(data[:i]); err == nil {
				t.Errorf("%q: accepted the first %d of %d bytes", x.path, i, len(data))
			}
		}
	}
}

func FuzzReadRecord(f *testing.F) {
	for _, x := range sampleEntries() {
		f.Add(appendRecord(nil, x.path, x.entry))
	}
	f.Add([]byte{recordAttributes, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		path, e, rest, err := readRecord(data)
		if err != nil {
			return
		}
		if len(rest) >= len(data) || e.size < 0 || e.metaSize < 0 {
			t.Errorf("%d bytes left of %d, %+v", len(rest), len(data), e)
		}
		again, back, _, err := readRecord(appendRecord(nil, path, e))
		if err != nil || again != path || !same(back, e) {
			t.Errorf("%q %+v came back as %q %+v, %v", path, e, again, back, err)
		}
	})
}

// indexOf returns the bytes of an index file of n entries.
func indexOf(t testing.TB, n int) []byte {
	t.Helper()
	fs := vfs.NewSimulated()
	var all []indexed
	for i := range n {
		all = append(all, indexed{objectstore.Path(fmt.Sprintf("dir/%d", i)), &entry{size: int64(i), labels: "0123456789abcdef0123456789abcdef", etagSize: 32}})
	}
	d := &localDir{fs: fs, dir: "/", files: &openFiles{fs: fs}}
	if err := writeIndex(d, all); err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile("/INDEX")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDamagedIndexGivesWhatPrecedesTheDamageAndAnError(t *testing.T) {
	data := indexOf(t, 20_000)
	whole := 0
	for x, err := range readIndex(bytes.NewReader(data)) {
		if err != nil || x.entry.size != int64(whole) {
			t.Fatalf("record %d: %+v, %v", whole, x.entry, err)
		}
		whole++
	}
	if whole != 20_000 {
		t.Fatalf("%d records", whole)
	}
	for name, spoilt := range map[string][]byte{
		"flipped":     flip(data, len(data)/2),
		"magic":       flip(data, 0),
		"length":      flip(data, len(indexMagic)+3),
		"cut":         data[:len(data)-7],
		"cut header":  append(bytes.Clone(data), 1, 2, 3),
		"zeros":       append(bytes.Clone(data), make([]byte, 100)...),
		"only magic?": data[:4],
	} {
		n, failed := 0, false
		for x, err := range readIndex(bytes.NewReader(spoilt)) {
			if err != nil {
				failed = true
				continue
			}
			if x.entry.size != int64(n) {
				t.Fatalf("%s: record %d says %d", name, n, x.entry.size)
			}
			n++
		}
		if !failed {
			t.Errorf("%s: no error after %d records", name, n)
		}
	}
}

func flip(data []byte, i int) []byte {
	spoilt := bytes.Clone(data)
	spoilt[i] ^= 0x80
	return spoilt
}

func FuzzReadIndex(f *testing.F) {
	f.Add(indexOf(f, 3))
	f.Add([]byte(indexMagic))
	f.Add([]byte(indexMagic + "\xff\xff\xff\x03\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		for _, err := range readIndex(bytes.NewReader(data)) {
			if n++; err != nil {
				return
			}
		}
		if n > len(data) {
			t.Errorf("%d records in %d bytes", n, len(data))
		}
	})
}

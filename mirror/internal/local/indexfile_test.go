package local

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func sampleEntries() []Indexed {
	attributes := &objectstore.Attributes{ContentType: "x", Metadata: map[string]string{"k\xff": "v", "": ""}}
	return []Indexed{
		{"a/x", &Entry{Size: 5, modified: 123, labels: "ev", etagSize: 1, dataTime: 1, metaTime: 2, metaSize: 3}},
		{"a/é\n", &Entry{Size: math.MaxInt64, modified: noTime, dataTime: math.MinInt64, metaTime: math.MaxInt64, hashed: true}},
		{"b", &Entry{Attributes: attributes, modified: -5}},
	}
}

func same(a, b *Entry) bool {
	if (a.Attributes == nil) != (b.Attributes == nil) {
		return false
	}
	if a.Attributes != nil && !sameAttributes(*a.Attributes, *b.Attributes) {
		return false
	}
	return a.Size == b.Size && a.modified == b.modified && a.ETag() == b.ETag() && a.Version() == b.Version() &&
		a.dataTime == b.dataTime && a.metaTime == b.metaTime && a.metaSize == b.metaSize && a.hashed == b.hashed
}

func TestRecordsRoundTrip(t *testing.T) {
	var data []byte
	for _, x := range sampleEntries() {
		data = appendRecord(data, x.Path, x.Entry)
	}
	for _, x := range sampleEntries() {
		path, e, rest, err := readRecord(data)
		if err != nil || path != x.Path || !same(e, x.Entry) {
			t.Fatalf("%q %+v, %v; want %q %+v", path, e, err, x.Path, x.Entry)
		}
		data = rest
	}
	if len(data) != 0 {
		t.Errorf("%d bytes are left", len(data))
	}
}

func TestRecordsThatAreCutAreErrors(t *testing.T) {
	for _, x := range sampleEntries() {
		data := appendRecord(nil, x.Path, x.Entry)
		for i := range data {
			if _, _, _, err := readRecord(data[:i]); err == nil {
				t.Errorf("%q: accepted the first %d of %d bytes", x.Path, i, len(data))
			}
		}
	}
}

func FuzzReadRecord(f *testing.F) {
	for _, x := range sampleEntries() {
		f.Add(appendRecord(nil, x.Path, x.Entry))
	}
	f.Add([]byte{recordAttributes, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		path, e, rest, err := readRecord(data)
		if err != nil {
			return
		}
		if len(rest) >= len(data) || e.Size < 0 || e.metaSize < 0 {
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
	var all []Indexed
	for i := range n {
		all = append(all, Indexed{objectstore.Path(fmt.Sprintf("dir/%d", i)), &Entry{Size: int64(i), labels: "0123456789abcdef0123456789abcdef", etagSize: 32}})
	}
	d := &Dir{FS: fs, Dir: "/", Files: &OpenFiles{fs: fs}}
	if err := WriteIndex(d, all); err != nil {
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
		if err != nil || x.Entry.Size != int64(whole) {
			t.Fatalf("record %d: %+v, %v", whole, x.Entry, err)
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
			if x.Entry.Size != int64(n) {
				t.Fatalf("%s: record %d says %d", name, n, x.Entry.Size)
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

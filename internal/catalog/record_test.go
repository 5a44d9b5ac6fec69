package catalog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenRecords are transactions of every kind, by the names of their files.
func goldenRecords() map[string]*Transaction {
	digest := [32]byte{1, 2, 3, 31: 255}
	return map[string]*Transaction{
		"empty":  {ID: 1, Time: time.Unix(0, 0).UTC()},
		"before": {ID: 2, Time: time.Unix(-1, 5).UTC()},
		"create": {ID: 3, Time: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.UTC), Facts: []Fact{
			Int64(1, AttributeParent, 0), String(1, AttributeName, "notes"),
			Int64(2, AttributeParent, 1), String(2, AttributeName, "déjà\nvu"), Digest(2, AttributeDigest, digest),
		}},
		"remove": {ID: 300, Time: time.Unix(1, 0).UTC(), Facts: []Fact{
			Retract(2, AttributeParent), Retract(2, AttributeName), Retract(2, AttributeDigest), Retract(2, "color"),
		}},
		"patch": {ID: 1 << 61, Time: time.Unix(1<<32, 0).UTC(), Facts: []Fact{
			Raw(1<<60, "color", []byte(`"red"`)), Raw(1<<60, strings.Repeat("n", 200), []byte(`{"a":[1,2.50,null]}`)),
			Int64(1<<60, AttributeParent, -1),
		}},
	}
}

// TestRecordsHaveTheirGoldenBytes holds the encoding: history keeps it for good.
func TestRecordsHaveTheirGoldenBytes(t *testing.T) {
	for name, want := range goldenRecords() {
		path := filepath.Join("testdata", "record-"+name+".hex")
		encoded := AppendRecord([]byte("before"), want)[len("before"):]
		if *update {
			if err := os.WriteFile(path, []byte(hex.EncodeToString(encoded)+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil || !bytes.Equal(encoded, golden) {
			t.Errorf("%s: encoded as\n%x\nwant\n%x, %v", name, encoded, golden, err)
		}
		got, err := DecodeRecord(golden)
		if err != nil || !equalTransactions(got, want) {
			t.Errorf("%s: decoded as\n%+v\nwant\n%+v, %v", name, got, want, err)
		}
		for i := range golden {
			if _, err := DecodeRecord(golden[:i]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut to %d bytes: %v", name, i, err)
			}
		}
		if _, err := DecodeRecord(append(golden, 0)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s with a byte more: %v", name, err)
		}
	}
}

func equalTransactions(a, b *Transaction) bool {
	if len(a.Facts) == 0 && len(b.Facts) == 0 {
		return a.ID == b.ID && a.Time.Equal(b.Time)
	}
	return a.ID == b.ID && a.Time.Equal(b.Time) && reflect.DeepEqual(a.Facts, b.Facts)
}

func TestRecordsThatAreNoneAreCorrupt(t *testing.T) {
	for what, text := range map[string]string{
		"nothing":                           "",
		"another version":                   "02010000",
		"id zero":                           "01000000",
		"id too large":                      "01ffffffffffffffffff010000",
		"a longer encoding of a number":     "0181000000",
		"more facts than bytes":             "010100ff01",
		"vast count of facts":               "010100ffffffffffffffff7f",
		"an unknown kind":                   "01010001010109",
		"an unknown attribute code":         "010100010104" + "0100",
		"a spelled-out attribute of a code": "010100010100" + "16" + hex.EncodeToString([]byte(AttributeParent)) + "00",
		"an attribute without a name":       "0101000101000000",
		"a text longer than what is left":   "0101000101020205" + "6161",
		"a digest cut short":                "01010001010303" + strings.Repeat("aa", 31),
		"an entity that is zero":            "010100010001" + "0100",
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(what, err)
		}
		if got, err := DecodeRecord(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// FuzzDecodeRecord checks that whatever decodes is the one encoding of what it
// decodes to, and shares no memory with it.
func FuzzDecodeRecord(f *testing.F) {
	for _, t := range goldenRecords() {
		f.Add(AppendRecord(nil, t))
	}
	f.Add([]byte{1, 1, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		original := bytes.Clone(b)
		got, err := DecodeRecord(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) || got != nil {
				t.Fatalf("%+v, %v", got, err)
			}
			return
		}
		clear(b)
		if again := AppendRecord(nil, got); !bytes.Equal(again, original) {
			t.Fatalf("%x decodes to %+v, which is encoded as %x", original, got, again)
		}
	})
}

// FuzzDecodeEntries checks what decodes of a manifest's row: sizes are positive
// and add up without overflow.
func FuzzDecodeEntries(f *testing.F) {
	f.Add(encodeEntries(nil, []Entry{{1, 1000}, {2, 4 << 20}, {1 << 40, 1}}), int64(0))
	f.Add(encodeEntries(nil, []Entry{{1, 1 << 61}, {2, 1 << 61}}), int64(1<<61))
	f.Add([]byte{0, 0}, int64(5))
	f.Add(bytes.Repeat([]byte{1, 1}, segmentEntries+1), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, start int64) {
		if start < 0 || start > forever {
			return // no row begins there
		}
		entries, err := decodeEntries(b, start)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if len(entries) > segmentEntries {
			t.Fatalf("%d entries", len(entries))
		}
		end := start
		for _, e := range entries {
			if e.Size <= 0 || e.Chunk <= 0 || end+e.Size < end {
				t.Fatalf("entry %+v after byte %d", e, end)
			}
			end += e.Size
		}
		again, err := decodeEntries(encodeEntries(nil, entries), start)
		if err != nil || len(again) != len(entries) {
			t.Fatalf("encoded again: %d entries of %d, %v", len(again), len(entries), err)
		}
	})
}

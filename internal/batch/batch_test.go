package batch

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
)

func compressor(t testing.TB) *Compressor {
	t.Helper()
	c, err := NewCompressor()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// example is a batch with an entry of every kind, and its pack.
func example(t testing.TB) (*Batch, []byte) {
	t.Helper()
	text := bytes.Repeat([]byte("stardust "), 100)
	noise := make([]byte, 300)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise) // it never fails
	var pack Pack
	c := compressor(t)
	b := &Batch{
		Identity: Identity{1, 2, 3}, Number: 2, Previous: digest.Of([]byte("one")),
		Writer: Nonce{4}, Nonce: Nonce{5}, Time: time.Unix(0, 1_700_000_000_000_000_000).UTC(),
		Before: replica.Position{Transaction: 7, Chunk: 3, Payload: 2},
		After:  replica.Position{Transaction: 9, Chunk: 6, Payload: 4},
		Places: []Place{pack.Add(digest.Of(text), text, c), pack.Add(digest.Of(noise), noise, c)},
		Rows: replica.Rows{
			Chunks: []replica.Chunk{{Row: 4, Digest: digest.Of(text), Size: 900}, {Row: 6, Digest: digest.Of(noise), Size: 300}},
			Payloads: []replica.Payload{
				{Row: 3, Digest: digest.Of(nil)},
				{Row: 4, Digest: digest.Of([]byte("both")), Size: 1200, Entries: []replica.Entry{{Chunk: 4, Size: 900}, {Chunk: 6, Size: 300}}},
			},
			Records: []replica.Record{{ID: 9, Bytes: catalog.AppendRecord(nil, &catalog.Transaction{
				ID: 9, Time: time.Unix(1_700_000_000, 0).UTC(),
				Facts: []catalog.Fact{catalog.Int64(8, catalog.AttributeParent, 0), catalog.String(8, catalog.AttributeName, "a")},
			})}},
		},
	}
	b.Tip = Tip{RecordSum(b.Rows.Records[0].Bytes), digest.Of(noise), digest.Of([]byte("both"))}
	bytes := pack.Finish()
	b.Packs = []PackRef{{Name{9}, int64(len(bytes))}}
	return b, bytes
}

// golden compares bytes with those in testdata, which are the format.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".hex")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; it should have %x", err, got)
	}
	decoded, err := hex.DecodeString(string(bytes.Join(bytes.Fields(want), nil)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(decoded, got) {
		t.Errorf("%s is the format and says\n%x\ngot\n%x", path, decoded, got)
	}
}

func TestTheBytesOfABatchNeverChange(t *testing.T) {
	b, _ := example(t)
	// What a version of the compression library makes of it is not the format.
	b.Places = []Place{{0, 4, 50, Zstd}, {0, 54, 300, Raw}}
	b.Packs[0].Size = 500
	encoded := b.Encode()
	golden(t, "batch", encoded)
	decoded, err := Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if again := decoded.Encode(); !bytes.Equal(again, encoded) {
		t.Errorf("decoded and encoded again:\n%x\nwas\n%x", again, encoded)
	}
}

// TestTheBytesOfAHorizonNeverChange in a batch that has nothing else, as GC writes.
func TestTheBytesOfAHorizonNeverChange(t *testing.T) {
	b, _ := example(t)
	b.Packs, b.Places, b.Rows, b.Before, b.Horizon = nil, nil, replica.Rows{}, b.After, 1_700_000_000_123
	encoded := b.Encode()
	golden(t, "horizon", encoded)
	decoded, err := Decode(encoded)
	if err != nil || decoded.Horizon != b.Horizon || !bytes.Equal(decoded.Encode(), encoded) {
		t.Errorf("%+v, %v", decoded, err)
	}
	b.Horizon = 1 << 48
	if _, err := Decode(b.Encode()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("later than any name: %v", err)
	}
}

func TestTheBytesOfAGenesisNeverChange(t *testing.T) {
	g := Genesis{Identity{0xab, 0xcd}}
	golden(t, "genesis", g.Encode())
	if got, err := DecodeGenesis(g.Encode()); err != nil || got != g {
		t.Errorf("%v, %v", got, err)
	}
}

// TestAPackOfRawChunksNeverChanges leaves compression out, whose bytes may differ
// from one version of the library to the next.
func TestAPackOfRawChunksNeverChanges(t *testing.T) {
	var pack Pack
	pack.Add(digest.Of([]byte("abc")), []byte("abc"), compressor(t))
	golden(t, "pack", pack.Finish())
}

func TestAPackGivesItsChunksBack(t *testing.T) {
	b, pack := example(t)
	listed, err := DecodePack(pack)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) != len(b.Rows.Chunks) || b.Places[0].Codec != Zstd || b.Places[1].Codec != Raw {
		t.Fatalf("%+v, %+v", listed, b.Places)
	}
	c := compressor(t)
	for i, l := range listed {
		if l.Place != b.Places[i] || l.Digest != b.Rows.Chunks[i].Digest {
			t.Errorf("chunk %d: the footer says %+v, the batch %+v", i, l.Place, b.Places[i])
		}
		data, err := c.Open(nil, pack[l.Place.Offset:l.Place.Offset+l.Place.Stored], l.Place.Codec, l.Size)
		if err != nil || digest.Of(data) != l.Digest {
			t.Errorf("chunk %d: %v", i, err)
		}
	}
}

// TestEveryFlippedBitIsNoticed flips each bit of each object.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	b, pack := example(t)
	for name, object := range map[string]struct {
		bytes  []byte
		decode func([]byte) error
	}{
		"batch":   {b.Encode(), func(b []byte) error { _, err := Decode(b); return err }},
		"pack":    {pack, func(b []byte) error { _, err := DecodePack(b); return err }},
		"genesis": {Genesis{Identity{1}}.Encode(), func(b []byte) error { g, err := DecodeGenesis(b); return other(g, err) }},
	} {
		for i := range 8 * len(object.bytes) {
			flipped := bytes.Clone(object.bytes)
			flipped[i/8] ^= 1 << (i % 8)
			if err := object.decode(flipped); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
				t.Errorf("%s: bit %d flipped: %v", name, i, err)
			}
		}
		for n := range len(object.bytes) {
			if err := object.decode(object.bytes[:n]); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
				t.Errorf("%s cut after %d bytes: %v", name, n, err)
			}
		}
	}
}

// other counts a genesis of another identity as noticed: those who have seen the
// database know its identity.
func other(g Genesis, err error) error {
	if err == nil && g.Identity != (Identity{1}) {
		return ErrCorrupt
	}
	return err
}

func FuzzDecode(f *testing.F) {
	b, _ := example(f)
	f.Add(b.Encode())
	f.Fuzz(func(t *testing.T, in []byte) {
		// A checksum that is right lets the fuzzer in.
		if len(in) > 32 {
			sum := digest.Of(in[:len(in)-32])
			copy(in[len(in)-32:], sum[:])
		}
		decoded, err := Decode(in)
		if err == nil && !bytes.Equal(decoded.Encode(), in) {
			t.Errorf("%x becomes %x", in, decoded.Encode())
		}
	})
}

// TestABundleGivesItsBatchesBack to the byte, and nothing that was cut or altered.
func TestABundleGivesItsBatchesBack(t *testing.T) {
	b, _ := example(t)
	u := &Bundle{Identity: b.Identity, First: 2, Batches: [][]byte{b.Encode(), []byte("another"), bytes.Repeat([]byte("long "), 5000)}}
	encoded, err := u.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeBundle(encoded)
	if err != nil || got.Identity != u.Identity || got.First != u.First || len(got.Batches) != len(u.Batches) {
		t.Fatalf("%+v, %v", got, err)
	}
	same := func(got *Bundle) bool {
		for i, b := range u.Batches {
			if !bytes.Equal(got.Batches[i], b) {
				return false
			}
		}
		return got.Identity == u.Identity && got.First == u.First
	}
	if !same(got) {
		t.Error("other batches")
	}
	for n := range encoded {
		if _, err := DecodeBundle(encoded[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		// A flipped bit that the frame's checksum does not notice is one of the header.
		flipped := bytes.Clone(encoded)
		flipped[n] ^= 4
		if got, err := DecodeBundle(flipped); err == nil && same(got) {
			t.Errorf("byte %d altered: nothing is noticed", n)
		}
	}
	golden(t, "bundle", encoded[:bundleHeader]) // a version of the library makes the rest
	large := &Bundle{First: 1, Batches: [][]byte{make([]byte, MaxBundle)}}
	if encoded, err = large.Encode(); err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeBundle(encoded); !errors.Is(err, ErrCorrupt) {
		t.Errorf("of more than a bundle can have: %v", err)
	}
}

func FuzzDecodeBundle(f *testing.F) {
	b, _ := example(f)
	encoded, err := (&Bundle{Identity: b.Identity, First: 2, Batches: [][]byte{b.Encode(), b.Encode()}}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Fuzz(func(t *testing.T, in []byte) {
		u, err := DecodeBundle(in)
		if err != nil {
			return
		}
		again, err := u.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeBundle(again); err != nil || len(got.Batches) != len(u.Batches) {
			t.Errorf("%d batches, again %v", len(u.Batches), err)
		}
	})
}

func FuzzDecodePack(f *testing.F) {
	_, pack := example(f)
	f.Add(pack)
	c := compressor(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		listed, err := DecodePack(in)
		if err != nil {
			return
		}
		for _, l := range listed {
			data, err := c.Open(nil, in[l.Place.Offset:l.Place.Offset+l.Place.Stored], l.Place.Codec, l.Size)
			if err == nil && int64(len(data)) != l.Size {
				t.Errorf("%+v has %d bytes", l, len(data))
			}
		}
	})
}

func FuzzDecodeGenesis(f *testing.F) {
	f.Add(Genesis{}.Encode())
	f.Fuzz(func(t *testing.T, in []byte) {
		if g, err := DecodeGenesis(in); err == nil && !bytes.Equal(g.Encode(), in) {
			t.Errorf("%q", in)
		}
	})
}

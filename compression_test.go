package stardust

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/internal/catalog"
)

func openCompressed(t *testing.T, path string, c Compression) *DB {
	t.Helper()
	db, err := Open(path, &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}, Compression: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func storedOf(t *testing.T, db *DB) Info {
	t.Helper()
	info, err := db.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestCompressionIsAnOptionOfTheFile: it holds until it is changed, for what is
// stored from then on.
func TestCompressionIsAnOptionOfTheFile(t *testing.T) {
	path := filepath.Join(FastDir(t), "db")
	var all [][]byte
	stored := int64(0)
	for i, step := range []struct{ option, holds Compression }{
		{CompressionNone, CompressionNone}, {"", CompressionNone}, {CompressionZstd, CompressionZstd}, {"", CompressionZstd},
	} {
		db := openCompressed(t, path, step.option)
		all = append(all, halves(byte(i), 100_000))
		if _, err := store(db, all[i]); err != nil {
			t.Fatal(err)
		}
		info := storedOf(t, db)
		if compressed := info.StoredBytes-stored < 100_000; info.Compression != step.holds || compressed != (step.holds == CompressionZstd) {
			t.Errorf("step %d: %d bytes more are stored: %+v", i, info.StoredBytes-stored, info)
		}
		stored = info.StoredBytes
		for _, data := range all {
			again, err := store(db, data)
			if err != nil || !again.Deduplicated || again.Digest != digestOf(data) {
				t.Errorf("step %d: stored again: %+v, %v", i, again, err)
			}
			stream, err := db.Tree().Open(digestOf(data))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := stream.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), data) {
				t.Errorf("step %d: read: %v", i, err)
			}
			part := make([]byte, 10)
			if _, err := stream.ReadAt(part, 70_000); err != nil || !bytes.Equal(part, data[70_000:70_010]) {
				t.Errorf("step %d: read at: %v", i, err)
			}
			_ = stream.Close()
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(path, &Options{Compression: "lzma"}); !errors.Is(err, StatusInvalidArgument) {
		t.Errorf("an unknown one: %v", err)
	}
}

// TestASettingOfANewerVersionStoresContentAsItIs, and reads what is there.
func TestASettingOfANewerVersionStoresContentAsItIs(t *testing.T) {
	path := filepath.Join(FastDir(t), "db")
	db := openCompressed(t, path, "")
	published, err := store(db, halves(1, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	err = db.catalog.Write(t.Context(), func(tx *catalog.Tx) error {
		return tx.SetSetting(catalog.SettingCompression, "of a newer version")
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	db = openCompressed(t, path, "")
	if _, err := store(db, halves(2, 100_000)); err != nil {
		t.Error(err)
	}
	if _, err := db.Tree().Open(published.Digest); err != nil {
		t.Error(err)
	}
	if info := storedOf(t, db); info.StoredBytes < 100_000 || info.StoredBytes >= 200_000 {
		t.Errorf("%+v", info)
	}
}

package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
)

// TestOlderSoftwareRefusesOnlyTablesWithCompressedChunks: the version moves with the
// first row that names one, and not when its commit fails.
func TestOlderSoftwareRefusesOnlyTablesWithCompressedChunks(t *testing.T) {
	c := openTest(t)
	version := func() (version int64) {
		t.Helper()
		err := c.Read(t.Context(), Live, func(v *View) (err error) {
			version, err = v.conn.version()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	plain := Chunk{Digest: sha256.Sum256([]byte("plain")), Offset: 64, Size: 4 << 20, Stored: 4 << 20}
	packed := Chunk{Digest: sha256.Sum256([]byte("packed")), Offset: 128, Size: 4 << 20, Stored: 100}
	write := func(fn func(*Tx) error) error { return c.Write(context.Background(), fn) }
	if err := write(func(tx *Tx) error { return tx.PutChunk(&plain) }); err != nil || version() != schemaVersion {
		t.Fatalf("version %d with a chunk that is as it is, %v", version(), err)
	}
	undone := errors.New("undone")
	err := write(func(tx *Tx) error { return errors.Join(tx.MoveChunk(plain.ID, 192, 7), undone) })
	if !errors.Is(err, undone) || version() != schemaVersion {
		t.Fatalf("version %d after a commit that failed, %v", version(), err)
	}
	if err := write(func(tx *Tx) error { return tx.MoveChunk(plain.ID, 192, 7) }); err != nil || version() != newestVersion {
		t.Fatalf("version %d with a compressed chunk, %v", version(), err)
	}
	if err := write(func(tx *Tx) error { return tx.PutChunk(&packed) }); err != nil {
		t.Fatal(err)
	}
	plain.Offset, plain.Stored = 192, 7
	err = c.Read(t.Context(), Live, func(v *View) error {
		for _, want := range []Chunk{plain, packed} {
			got, err := v.Chunk(want.ID)
			if err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		totals, err := v.ChunkTotals()
		if want := (ChunkTotals{2, 8 << 20, 107}); totals != want {
			t.Errorf("totals %+v, want %+v", totals, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, wrong := range []Chunk{{Size: 5}, {Size: 5, Stored: 6}, {Size: 5, Stored: -1}, {Size: 1 << 33, Stored: 1 << 33}} {
		wrong.Offset = 64
		if err := write(func(tx *Tx) error { return tx.PutChunk(&wrong) }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// TestSizesThatCannotBeAreDamage: a row's column is taken apart with care.
func TestSizesThatCannotBeAreDamage(t *testing.T) {
	for _, column := range []int64{0, -1, 5 << 32, 5<<32 | 5, 6<<32 | 5, -5<<32 | 7} {
		var c Chunk
		if c.setSizes(column) {
			t.Errorf("%#x: %d bytes, %d stored", column, c.Size, c.Stored)
		}
	}
}

func TestSettingsAreOfTheFile(t *testing.T) {
	c := openTest(t)
	for _, want := range []string{"", "none", "zstd"} {
		if want != "" {
			err := c.Write(context.Background(), func(tx *Tx) error { return tx.SetSetting(SettingCompression, want) })
			if err != nil {
				t.Fatal(err)
			}
		}
		err := c.Read(t.Context(), Live, func(v *View) error {
			got, err := v.Setting(SettingCompression)
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	err := c.Write(context.Background(), func(tx *Tx) error {
		return tx.conn.sq.Exec(`UPDATE setting SET value = CAST('none' AS BLOB)`)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Read(t.Context(), Live, func(v *View) error {
		_, err := v.Setting(SettingCompression)
		return err
	})
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("a changed setting: %v", err)
	}
	problems := 0
	err = c.Read(t.Context(), Live, func(v *View) error {
		_, err := v.Check(t.Context(), func(error) { problems++ })
		return err
	})
	if problems != 1 || err != nil {
		t.Errorf("a check found %d problems, %v", problems, err)
	}
}

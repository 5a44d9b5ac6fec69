package stardust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
)

func openSession(t *testing.T) *session {
	t.Helper()
	s := newSession(filepath.Join(FastDir(t), "db"))
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	return s
}

// chunkOf returns the row of a chunk.
func chunkOf(t *testing.T, db *DB, digest Digest) (c catalog.Chunk) {
	t.Helper()
	err := db.catalog.Read(t.Context(), catalog.Live, func(v *catalog.View) (err error) {
		var found bool
		c, found, err = v.ChunkByDigest(digest)
		if err == nil && !found {
			err = errors.New("no such chunk")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// flip changes the last byte of a chunk on the disk.
func flip(t *testing.T, path string, c catalog.Chunk) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The record's header is before its bytes, so this is one of the latter.
	at := payload.Place(&c).End() - 1
	if _, err := f.WriteAt([]byte{data[at] ^ 1}, at); err != nil {
		t.Fatal(err)
	}
}

// TestADamagedChunkIsReportedAndHealedByUploadingItAgain damages a stored chunk:
// every way to read it reports evaluation_failed, also on a stream that verified
// it before, and an upload of the same bytes heals it for streams that are open.
func TestADamagedChunkIsReportedAndHealedByUploadingItAgain(t *testing.T) {
	s := openSession(t)
	data := noise(1, 200<<10)
	digest := digestOf(data)
	if _, err := store(s.db, data); err != nil {
		t.Fatal(err)
	}
	before, err := s.db.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if _, err := io.Copy(io.Discard, before); err != nil {
		t.Fatal(err)
	}
	flip(t, s.path, chunkOf(t, s.db, digest))

	if _, err := load(s.db, digest); !errors.Is(err, StatusEvaluationFailed) {
		t.Errorf("read: %v", err)
	}
	p := make([]byte, 10)
	if n, err := before.ReadAt(p, int64(len(data)-10)); n != 0 || !errors.Is(err, StatusEvaluationFailed) {
		t.Errorf("a stream that verified the chunk before: %d bytes, %v", n, err)
	}
	if _, err := before.ReadAt(p, 0); err != nil {
		t.Logf("another block of the chunk: %v", err) // either is right
	}
	report, err := s.db.Check(t.Context(), nil)
	if err != nil || report.Damaged != 1 {
		t.Errorf("check: %+v, %v", report, err)
	}
	if err := s.db.Backup(t.Context(), s.path+"2", nil); !errors.Is(err, StatusEvaluationFailed) {
		t.Errorf("backup: %v", err)
	}

	published, err := store(s.db, data)
	if err != nil || !published.Deduplicated {
		t.Fatalf("upload of the same bytes: %+v, %v", published, err)
	}
	if got, err := load(s.db, digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("after healing: %d bytes, %v", len(got), err)
	}
	if _, err := before.ReadAt(p, int64(len(data)-10)); err != nil || !bytes.Equal(p, data[len(data)-10:]) {
		t.Errorf("after healing, on the open stream: %v", err)
	}
	if err := errors.Join(checkClean(s.db), s.close(), s.open(), checkClean(s.db)); err != nil {
		t.Error(err)
	}
}

// publishManifest writes a payload's rows, right or wrong, as they are.
func publishManifest(t *testing.T, db *DB, digest Digest, size int64, entries ...catalog.Entry) {
	t.Helper()
	err := db.catalog.Write(t.Context(), func(tx *catalog.Tx) error {
		return tx.PutPayload(&catalog.Payload{Digest: digest, Size: size}, func(yield func(catalog.Entry) bool) {
			for _, e := range entries {
				if !yield(e) {
					return
				}
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAManifestThatPromisesMoreThanItsChunksHave never hangs, panics or returns
// bytes that are not there.
func TestAManifestThatPromisesMoreThanItsChunksHave(t *testing.T) {
	s := openSession(t)
	data := noise(1, 1000)
	if _, err := store(s.db, data); err != nil {
		t.Fatal(err)
	}
	row := chunkOf(t, s.db, digestOf(data)).ID
	for i, c := range []struct {
		what    string
		size    int64
		entries []catalog.Entry
	}{
		{"one chunk, longer", 1100, []catalog.Entry{{Chunk: row, Size: 1100}}},
		{"one chunk, shorter", 900, []catalog.Entry{{Chunk: row, Size: 900}}},
		{"one chunk, vast", 1 << 60, []catalog.Entry{{Chunk: row, Size: 1 << 60}}},
		{"two chunks, the second longer", 2100, []catalog.Entry{{Chunk: row, Size: 1000}, {Chunk: row, Size: 1100}}},
		{"two chunks, the second vast", 1<<60 + 1000, []catalog.Entry{{Chunk: row, Size: 1000}, {Chunk: row, Size: 1 << 60}}},
		{"a size beyond the chunks", 5000, []catalog.Entry{{Chunk: row, Size: 1000}, {Chunk: row, Size: 1000}}},
		{"a size below the chunks", 1500, []catalog.Entry{{Chunk: row, Size: 1000}, {Chunk: row, Size: 1000}}},
		{"a chunk that is not there", 2000, []catalog.Entry{{Chunk: row, Size: 1000}, {Chunk: 77, Size: 1000}}},
		{"no chunks at all", 10, nil},
	} {
		digest := Digest{byte(i + 1)}
		publishManifest(t, s.db, digest, c.size, c.entries...)
		if _, err := s.db.Objects().Manifest(digest.String()); !errors.Is(err, StatusEvaluationFailed) {
			t.Errorf("%s: manifest: %v", c.what, err)
		}
		got, err := load(s.db, digest)
		if !errors.Is(err, StatusEvaluationFailed) || !bytes.HasPrefix(append(bytes.Clone(data), data...), got) {
			t.Errorf("%s: read: %d bytes, %v", c.what, len(got), err)
		}
		reader, err := s.db.Tree().Open(digest)
		if err != nil {
			if !errors.Is(err, StatusEvaluationFailed) {
				t.Errorf("%s: open: %v", c.what, err)
			}
			continue
		}
		p := make([]byte, 50)
		if _, err := reader.ReadAt(p, c.size-50); c.what != "one chunk, shorter" && !errors.Is(err, StatusEvaluationFailed) {
			t.Errorf("%s: read at the end: %v", c.what, err)
		}
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	}
	report, err := s.db.Check(t.Context(), nil)
	if err != nil || report.Damaged < 9 {
		t.Errorf("check: %d problems, %v", report.Damaged, err)
	}
}

// TestOffsetsBeyond32Bits reads around 2^31 and 2^32 of a payload that is made of
// one chunk many times.
func TestOffsetsBeyond32Bits(t *testing.T) {
	s := openSession(t)
	data := noise(1, 1<<20-3)
	if _, err := store(s.db, data); err != nil {
		t.Fatal(err)
	}
	c := chunkOf(t, s.db, digestOf(data))
	const times = 4200
	entries := make([]catalog.Entry, times)
	for i := range entries {
		entries[i] = catalog.Entry{Chunk: c.ID, Size: c.Size}
	}
	digest := Digest{1}
	publishManifest(t, s.db, digest, times*c.Size, entries...)
	reader, err := s.db.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p := make([]byte, 100)
	for _, at := range []int64{0, 1<<31 - 50, 1 << 31, 1<<32 - 50, 1 << 32, 1024 * c.Size, 1024*c.Size - 50, times*c.Size - 100} {
		want := make([]byte, len(p))
		for i := range want {
			want[i] = data[(at+int64(i))%c.Size]
		}
		if _, err := reader.ReadAt(p, at); err != nil || !bytes.Equal(p, want) {
			t.Errorf("read at %d: %v", at, err)
		}
		if position, err := reader.Seek(at, io.SeekStart); err != nil || position != at {
			t.Errorf("seek to %d: %d, %v", at, position, err)
		}
		if _, err := io.ReadFull(reader, p); err != nil || !bytes.Equal(p, want) {
			t.Errorf("read from %d: %v", at, err)
		}
	}
	if err := checkManifestCount(t.Context(), s.db, digest, times); err != nil {
		t.Error(err)
	}
}

func checkManifestCount(ctx context.Context, db *DB, digest Digest, want int) error {
	n := 0
	for _, err := range db.Tree().WithContext(ctx).Chunks(digest) {
		if err != nil {
			return err
		}
		n++
	}
	if n != want {
		return fmt.Errorf("%d chunks, want %d", n, want)
	}
	return nil
}

package bucketdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// fastDir returns a directory of the test's own, in memory where the system has
// such a thing.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stardust-test-") //nolint:usetesting // faster than the default directory
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func openDB(t testing.TB, path string) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(path, &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

func newDB(t testing.TB) *stardust.DB {
	t.Helper()
	return openDB(t, filepath.Join(fastDir(t), "db"))
}

// noise returns n bytes that are the same for the same seed.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// put makes a file of a database, or gives it other content.
func put(t testing.TB, db *stardust.DB, name string, data []byte) stardust.Record {
	t.Helper()
	r, err := db.Tree().Put(name, bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// small are options that make many batches and packs of little.
func small() *PushOptions { return &PushOptions{Workers: 2, batchChunks: 5, packSize: 300 << 10} }

// fill makes some files, versions and directories, and a payload that nothing names.
func fill(t testing.TB, db *stardust.DB) {
	t.Helper()
	for i := range 12 {
		put(t, db, fmt.Sprintf("f%d", i), fmt.Appendf(nil, "content %d", i))
	}
	put(t, db, "large", noise(1, 2<<20))
	put(t, db, "f3", []byte("another version"))
	put(t, db, "empty", nil)
	r := put(t, db, "gone", []byte("bytes of what is gone"))
	if err := db.Tree().Remove(r.Entity, 0); err != nil {
		t.Fatal(err)
	}
	upload, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer upload.Close()
	if _, err := upload.Write([]byte("named by nothing")); err != nil {
		t.Fatal(err)
	}
	if _, err := upload.Finish(); err != nil {
		t.Fatal(err)
	}
}

// rowsOf returns all that a replica has.
func rowsOf(t testing.TB, db *stardust.DB) (replica.Position, replica.Rows) {
	t.Helper()
	r := db.Replica()
	at, err := r.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows replica.Rows
	var errs [3]error
	rows.Chunks, errs[0] = r.Chunks(t.Context(), 0, at.Chunk, 1<<30)
	rows.Payloads, errs[1] = r.Payloads(t.Context(), 0, at.Payload, 1<<30)
	rows.Records, errs[2] = r.Records(t.Context(), 0, at.Transaction, 1<<30)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return at, rows
}

// mustEqual compares two replicas row by row, and checks the second one.
func mustEqual(t testing.TB, want, got *stardust.DB) {
	t.Helper()
	wantAt, wantRows := rowsOf(t, want)
	gotAt, gotRows := rowsOf(t, got)
	if gotAt != wantAt || !reflect.DeepEqual(gotRows, wantRows) {
		t.Fatalf("the replica is at %+v, want %+v, and has %d chunks, %d payloads and %d transactions, want %d, %d and %d", gotAt, wantAt,
			len(gotRows.Chunks), len(gotRows.Payloads), len(gotRows.Records),
			len(wantRows.Chunks), len(wantRows.Payloads), len(wantRows.Records))
	}
	mustBeWhole(t, got)
}

func mustBeWhole(t testing.TB, db *stardust.DB) {
	t.Helper()
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged != 0 {
		t.Fatalf("check: %+v, %v", report, err)
	}
}

func content(t testing.TB, db *stardust.DB, name string) []byte {
	t.Helper()
	r, err := db.Tree().Lookup(0, name)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := db.Tree().Open(r.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustPush(t testing.TB, db *stardust.DB, store objectstore.Store) *Report {
	t.Helper()
	report, err := Push(t.Context(), db, store, small())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func mustClone(t testing.TB, store objectstore.Store) *stardust.DB {
	t.Helper()
	path := filepath.Join(fastDir(t), "clone")
	if _, err := Clone(t.Context(), store, path, nil); err != nil {
		t.Fatal(err)
	}
	return openDB(t, path)
}

func newStore() objectstore.Store { return memory.New(nil) }

// racing lets something happen just before the first batch is written.
type racing struct {
	objectstore.Store
	first func()
}

func (s *racing) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if first := s.first; first != nil && strings.HasPrefix(path.String(), logPrefix) {
		s.first = nil
		first()
	}
	return s.Store.Put(ctx, path, body, options)
}

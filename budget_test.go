package stardust

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stardustdb/stardust/internal/container"
)

// taken returns the bytes of the file that are in use.
func (db *DB) taken() int64 { return db.file.container.Tail() - db.file.heap.FreeBytes() }

// TestMemoryComesBack uses the memory budget in every way that there is, also
// in those that fail, and finds none of it in use when all streams are closed.
func TestMemoryComesBack(t *testing.T) {
	var fails atomic.Bool // the hook runs on the goroutines that write, too
	options := Options{
		Plugins:      Plugins{Objects: &ObjectsPlugin{}},
		MemoryBudget: 40 << 20,
		hook: func(op container.Op, do func() error) error {
			if fails.Load() {
				return errors.New("the disk fails")
			}
			return do()
		},
	}
	db, err := Open(filepath.Join(FastDir(t), "db"), &options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	large := noise(1, 20<<20)
	published, err := store(db, large)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		if held := db.payloads.Held(); held != 0 {
			t.Fatalf("after %s, %d bytes of the budget are still in use", what, held)
		}
	}
	check("an upload")

	uploading := func(data []byte) *PluginStream {
		t.Helper()
		stream, err := db.Objects().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(data); err != nil {
			t.Fatal(err)
		}
		return stream
	}
	for _, data := range [][]byte{nil, []byte("small"), noise(2, 5<<20), noise(3, 17<<20)} {
		stream := uploading(data)
		_ = stream.Close()
		_ = stream.Close()
		check("an abandoned upload")
	}

	stream := uploading(noise(4, 5<<20))
	fails.Store(true)
	if _, err := stream.Finish(); !errors.Is(err, StatusIO) {
		t.Errorf("finish on a failing disk: %v", err)
	}
	fails.Store(false)
	_ = stream.Close()
	check("an upload whose disk failed")

	ctx, cancel := context.WithCancel(t.Context())
	canceled, err := db.Objects().WithContext(ctx).Upload()
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := canceled.Write([]byte("x")); !errors.Is(err, StatusCanceled) {
		t.Errorf("write after its context ended: %v", err)
	}
	_ = canceled.Close()
	check("an upload that was canceled")

	reader, err := db.Tree().Open(published.Digest)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 64<<10)
	for at := int64(0); at < int64(len(large)); at += 3 << 20 {
		if _, err := reader.ReadAt(buffer, at); err != nil && err != io.EOF { // io.ReaderAt's contract
			t.Fatal(err)
		}
		if _, err := reader.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(reader, buffer); err != nil {
			t.Fatal(err)
		}
	}
	_ = reader.Close()
	check("reads, seeks and reads at offsets")

	var hoard []*PluginStream
	for {
		stream, err := db.Objects().Upload()
		if errors.Is(err, StatusOutOfMemory) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		hoard = append(hoard, stream)
	}
	for _, stream := range hoard {
		_ = stream.Close()
	}
	check("as many uploads as fit")

	if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	check("a check")
	tree := fstest.MapFS{"a": {Data: noise(5, 18<<20)}, "d/b": {Data: []byte("b")}}
	if _, err := db.Tree().Import(t.Context(), tree, 0, nil); err != nil {
		t.Fatal(err)
	}
	check("an import")
	if _, err := db.Tree().Export(t.Context(), 0, t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	check("an export")
	if err := db.Backup(t.Context(), filepath.Join(t.TempDir(), "copy"), nil); err != nil {
		t.Fatal(err)
	}
	check("a backup")
}

// TestACanceledImportLeavesNoSpaceTaken cancels an import in the middle of a file
// and finds its chunks' space free, without opening the file anew.
func TestACanceledImportLeavesNoSpaceTaken(t *testing.T) {
	db, err := Open(filepath.Join(FastDir(t), "db"), &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := store(db, []byte("x")); err != nil {
		t.Fatal(err)
	}
	before := db.taken()
	tree := fstest.MapFS{}
	for i := range 2 {
		tree[string(rune('a'+i))] = &fstest.MapFile{Data: noise(byte(10+i), 40<<20)}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = db.Tree().Import(ctx, tree, 0, &ImportOptions{Workers: 2, Progress: func(p Progress) {
		if p.Bytes > 18<<20 {
			cancel()
		}
	}})
	if !errors.Is(err, StatusCanceled) {
		t.Fatalf("a canceled import: %v", err)
	}
	if after := db.taken(); after != before {
		t.Errorf("after a canceled import %d bytes are in use, were %d", after, before)
	}
	if held := db.payloads.Held(); held != 0 {
		t.Errorf("after a canceled import %d bytes of the budget are in use", held)
	}
}

// TestNoGoroutineOutlivesClose closes a database with readers and uploads in the
// middle of things.
func TestNoGoroutineOutlivesClose(t *testing.T) {
	before := runtime.NumGoroutine()
	db, err := Open(filepath.Join(FastDir(t), "db"), &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	published, err := store(db, noise(1, 20<<20))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		reader, err := db.Tree().Open(published.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		stream, err := db.Objects().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(noise(2, 9<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// A goroutine that has told of its end may need a moment to be gone.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(20 * time.Second); runtime.NumGoroutine() > before; {
		select {
		case <-tick.C:
			continue
		case <-end:
		}
		break
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, were %d:\n%s", after, before, stacks[:runtime.Stack(stacks, true)])
	}
	if held := db.payloads.Held(); held != 0 {
		t.Errorf("after Close %d bytes of the budget are in use", held)
	}
}

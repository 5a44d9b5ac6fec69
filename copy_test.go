package stardust

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/internal/container"
)

// sourceFunc is a reader made of a function.
type sourceFunc func(p []byte) (int, error)

func (f sourceFunc) Read(p []byte) (int, error) { return f(p) }

// targetFunc is a writer made of a function.
type targetFunc func(p []byte) (int, error)

func (f targetFunc) Write(p []byte) (int, error) { return f(p) }

func openForCopies(t *testing.T, hook container.Hook) *DB {
	t.Helper()
	db, err := Open(filepath.Join(FastDir(t), "db"), &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}, hook: hook})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // most tests have closed it
	return db
}

// TestAHoldDuringFinishLosesNothing begins a hold when Finish has stored the last
// chunk and not yet published: after the release the same Finish succeeds.
func TestAHoldDuringFinishLosesNothing(t *testing.T) {
	for _, size := range []int{10, 9 << 20} {
		var db *DB
		var release func()
		var finishing atomic.Bool
		var once sync.Once
		db = openForCopies(t, func(op container.Op, do func() error) error {
			if finishing.Load() && op.Kind == container.OpWrite && !op.WAL {
				once.Do(func() {
					var err error
					if release, err = db.HoldWrites(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			return do()
		})
		data := noise(1, size)
		upload, err := db.Tree().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Write(data); err != nil {
			t.Fatal(err)
		}
		finishing.Store(true)
		for try := range 2 { // as long as the hold lasts
			var e *Error
			if _, err := upload.Finish(); !errors.As(err, &e) || e.Code != CodeWritesHeld {
				t.Fatalf("%d bytes, try %d: finish while writes are held: %v", size, try, err)
			}
		}
		finishing.Store(false)
		release()
		published, err := upload.Finish()
		if err != nil {
			t.Fatalf("%d bytes: after the release: %v", size, err)
		}
		if got, err := load(db, published.Digest); err != nil || string(got) != string(data) {
			t.Errorf("%d bytes: %d bytes came back, %v", size, len(got), err)
		}
		if err := upload.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestContextsEndCopies cancels a stream's context in the middle of io.Copy from a
// source that never ends, and to a target from chunks that are in the cache: the
// copy asks neither for more.
func TestContextsEndCopies(t *testing.T) {
	db := openForCopies(t, nil)
	published, err := store(db, noise(1, 20<<20))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tree := db.Tree().WithContext(ctx)
	upload, err := tree.Upload()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := tree.Open(published.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadAt(make([]byte, 20<<20), 0); err != nil { // fills the cache
		t.Fatal(err)
	}
	calls := 0
	_, err = io.Copy(targetFunc(func(p []byte) (int, error) {
		if calls++; calls == 1 {
			// The copy into the upload comes to its end within this one.
			_, err := io.Copy(upload, sourceFunc(func(p []byte) (int, error) {
				if calls++; calls == 4 {
					cancel()
				}
				return len(p), nil
			}))
			if !errors.Is(err, StatusCanceled) || calls != 4 {
				t.Errorf("the copy from an endless source ended with %v after %d reads", err, calls-1)
			}
		}
		return len(p), nil
	}), reader)
	if !errors.Is(err, StatusCanceled) || calls != 4 {
		t.Errorf("the copy out of the cache ended with %v after %d writes", err, calls-3)
	}
	if reader.Close() != nil || upload.Close() != nil {
		t.Error("close")
	}
	if held := db.payloads.Held(); held != 0 {
		t.Errorf("%d bytes of memory are in use", held)
	}
}

// TestCloseWaitsForNoSourceOrTarget closes uploads and readers, and then the
// database, while the callers' own readers and writers are blocked for ever.
func TestCloseWaitsForNoSourceOrTarget(t *testing.T) {
	db := openForCopies(t, nil)
	published, err := store(db, noise(1, 20<<20))
	if err != nil {
		t.Fatal(err)
	}
	blocked := make(chan struct{})
	goOn := make(chan struct{})
	block := func(p []byte) (int, error) {
		blocked <- struct{}{}
		<-goOn
		return len(p), nil
	}
	ended := make(chan error)
	var streams []io.Closer
	for range 2 {
		upload, err := db.Tree().Upload()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Write(noise(2, 9<<20)); err != nil {
			t.Fatal(err)
		}
		reader, err := db.Tree().Open(published.Digest)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, upload, reader)
		go func() { _, err := io.Copy(upload, sourceFunc(block)); ended <- err }()
		go func() { _, err := io.Copy(targetFunc(block), reader); ended <- err }()
	}
	for range streams {
		<-blocked
	}
	for _, stream := range streams[:2] {
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	close(goOn)
	for range streams {
		if err := <-ended; !errors.Is(err, StatusClosed) {
			t.Errorf("a copy ended with %v", err)
		}
	}
	if held := db.payloads.Held(); held != 0 {
		t.Errorf("%d bytes of memory are in use", held)
	}
}

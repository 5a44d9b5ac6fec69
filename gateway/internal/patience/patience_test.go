package patience

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

func open(t *testing.T, budget int64) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{
		Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}, MemoryBudget: budget,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func random(size int) []byte {
	p := make([]byte, size)
	for i := range p {
		p[i] = byte(rand.Uint32())
	}
	return p
}

// Far more than the budget has room for is under way at once, and all of it succeeds.
func TestManyBodiesShareASmallBudget(t *testing.T) {
	db := open(t, 12<<20)
	var lanes Lanes
	content := random(2 << 20)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			body := append([]byte{byte(i)}, content...)
			name := fmt.Sprint(i)
			record, err := lanes.Put(t.Context(), db.Tree(), name, bytes.NewReader(body), nil, nil)
			if err != nil {
				t.Errorf("put %d: %v", i, err)
				return
			}
			reader, err := Open(t.Context(), db.Tree(), record.Digest)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = reader.Close() }()
			if got, err := io.ReadAll(reader); err != nil || !bytes.Equal(got, body) {
				t.Errorf("read %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	group.Wait()
	if len(lanes.holders) != 0 {
		t.Errorf("%d lanes are held", len(lanes.holders))
	}
}

// Bodies that have stopped coming give their lanes to one that comes.
func TestSlowBodiesGiveWay(t *testing.T) {
	db := open(t, 0)
	lanes := Lanes{grace: 40 * time.Millisecond}
	begun := random(freeBytes + 100)
	ended := make(chan error, most)
	var stop []func()
	for i := range most {
		r, w := io.Pipe()
		stop = append(stop, func() { _ = w.Close() })
		go func() {
			_, err := lanes.Put(t.Context(), db.Tree(), fmt.Sprint("slow", i), r, nil, func() { _ = w.CloseWithError(errors.New("interrupted")) })
			ended <- err
		}()
		if _, err := w.Write(begun); err != nil {
			t.Fatal(err)
		}
	}
	// A small body needs no lane, and a large one gets that of a slow one.
	if _, err := lanes.Put(t.Context(), db.Tree(), "small", bytes.NewReader(begun[:1000]), nil, nil); err != nil {
		t.Errorf("a small body: %v", err)
	}
	if _, err := lanes.Put(t.Context(), db.Tree(), "large", bytes.NewReader(random(1<<20)), nil, nil); err != nil {
		t.Errorf("a large body: %v", err)
	}
	if err := <-ended; !errors.Is(err, ErrSlow) {
		t.Errorf("a slow body: %v", err)
	}
	for _, end := range stop {
		end()
	}
	slow := 0
	for range most - 1 {
		if err := <-ended; err != nil {
			slow++
		}
	}
	if slow > 2 {
		t.Errorf("%d more had to give way for one", slow)
	}
}

// Whoever waits gives up with its client.
func TestWaitingEndsWithTheClient(t *testing.T) {
	lanes := Lanes{}
	for range most {
		if _, err := lanes.enter(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lanes.enter(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("entered: %v", err)
	}
}

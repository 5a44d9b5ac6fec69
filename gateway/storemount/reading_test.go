package storemount

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// streams is a store whose bodies can only be read on, and break where broken says.
type streams struct {
	objectstore.Store

	mu     sync.Mutex
	gets   []string // the ranges asked for
	broken int64    // after so many bytes a body breaks; 0 is never
}

func (s *streams) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	result, err := s.Store.Get(ctx, path, options)
	if err != nil || result.Body == nil {
		return result, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	what := "all"
	if options != nil && options.Range != nil {
		what = options.Range.String()
	}
	s.gets = append(s.gets, what)
	reader := io.Reader(result.Body)
	if s.broken > 0 {
		reader = io.MultiReader(io.LimitReader(reader, s.broken), breaks{})
	}
	result.Body = struct {
		io.Reader
		io.Closer
	}{reader, result.Body}
	return result, nil
}

type breaks struct{}

func (breaks) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func openStreams(t *testing.T, size int) (*streams, *reading, []byte) {
	t.Helper()
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	store := &streams{Store: memory.New(nil)}
	if _, err := store.Put(t.Context(), "a", objectstore.Bytes(content), nil); err != nil {
		t.Fatal(err)
	}
	r, err := openReading(t.Context(), store, "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return store, r, content
}

func checkRead(t *testing.T, r *reading, content []byte, offset, n int) {
	t.Helper()
	p := make([]byte, n)
	got, err := r.readAt(t.Context(), p, int64(offset))
	want := content[min(offset, len(content)):min(offset+n, len(content))]
	if err != nil || !bytes.Equal(p[:got], want) {
		t.Fatalf("read of %d at %d: %d bytes, %v", n, offset, got, err)
	}
}

// Requests of the kernel that arrive in another order are of one stream.
func TestReadingOnIsOneRequestWhateverTheOrder(t *testing.T) {
	store, r, content := openStreams(t, 12<<20+77)
	const step = 1 << 18
	for offset := 0; offset < len(content); offset += 4 * step {
		for _, i := range []int{2, 0, 3, 1} {
			checkRead(t, r, content, offset+i*step, step)
		}
	}
	if len(store.gets) != 1 {
		t.Errorf("requests: %q", store.gets)
	}
	// Whatever the order, the bytes are right.
	var group sync.WaitGroup
	for offset := 0; offset < len(content); offset += step {
		group.Go(func() {
			p := make([]byte, step)
			n, err := r.readAt(t.Context(), p, int64(offset))
			if err != nil || !bytes.Equal(p[:n], content[offset:min(len(content), offset+step)]) {
				t.Errorf("read at %d: %d, %v", offset, n, err)
			}
		})
	}
	group.Wait()
}

func TestJumpsAskForWhatTheyNeed(t *testing.T) {
	store, r, content := openStreams(t, 40<<20)
	source := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		checkRead(t, r, content, source.IntN(len(content)+100), source.IntN(300_000)+1)
	}
	checkRead(t, r, content, 0, 40<<20)
	checkRead(t, r, content, 40<<20, 1)
	if len(store.gets) > 50 {
		t.Errorf("%d requests", len(store.gets))
	}
}

func TestABrokenStreamGoesOnWhereItBroke(t *testing.T) {
	store, r, content := openStreams(t, 5<<20)
	store.broken = 1<<20 + 5
	r.drop()
	for offset := 0; offset < len(content); offset += 1 << 17 {
		checkRead(t, r, content, offset, 1<<17)
	}
	store.broken = 1
	r.drop()
	if _, err := r.readAt(t.Context(), make([]byte, 100), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that always breaks: %v", err)
	}
}

// Bytes of two versions are never mixed.
func TestAReplacedObjectEndsTheReading(t *testing.T) {
	store, r, content := openStreams(t, 9<<20)
	checkRead(t, r, content, 0, 100)
	if _, err := store.Put(t.Context(), "a", objectstore.Bytes(content[1:]), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.readAt(t.Context(), make([]byte, 100), 8<<20); !errors.Is(err, objectstore.ErrPrecondition) {
		t.Errorf("got %v", err)
	}
}

func TestARequestThatEndsEndsItsRead(t *testing.T) {
	_, r, _ := openStreams(t, 100)
	r.drop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.readAt(ctx, make([]byte, 100), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

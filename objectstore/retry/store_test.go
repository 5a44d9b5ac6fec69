package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/retry"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return retry.New(memory.New(nil), retry.Options{})
	}, storetest.Features{ListKeys: 50})
}

// TestStoreConformsOverFaults runs the suite over a store half of whose calls
// fail, and most of whose bodies break off: nothing of it may show.
func TestStoreConformsOverFaults(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(*testing.T) objectstore.Store {
				faulty := storetest.Faulty(memory.New(nil), storetest.FaultyOptions{
					Script: storetest.Seeded(seed, storetest.Rates{Before: 0.4, Cut: 0.3, Delay: 0.1}),
					Sleep:  noSleep,
				})
				return buffered(retry.New(faulty, retry.Options{MaxRetries: objectstore.RetryForever, Timeout: -1, Sleep: noSleep}))
			}, storetest.Features{ListKeys: 50, LooseDelete: true, LooseUploads: true, ReplacedReads: true})
		})
	}
}

// buffered is a store that makes bodies replayable first.
func buffered(inner objectstore.Store) objectstore.Store {
	return intercept.View(intercept.New(inner, intercept.Hooks{
		Send: func(_ context.Context, _ intercept.Call, body objectstore.Body) objectstore.Body {
			data, err := body.ReadAll()
			if err != nil {
				return objectstore.Stream(iotest.ErrReader(err), 1)
			}
			return objectstore.Bytes(data)
		},
	}), inner)
}

// failing is a store over inner whose calls of op fail the first times.
func failing(inner objectstore.Store, op string, times int, fault storetest.Fault) objectstore.Store {
	calls := 0
	return storetest.Faulty(inner, storetest.FaultyOptions{Script: func(o string, _ objectstore.Path) storetest.Fault {
		if o != op || calls >= times {
			return storetest.Fault{}
		}
		calls++
		return fault
	}})
}

var (
	errFlaky  = errors.New("flaky")
	transient = objectstore.Transient(errFlaky, 0)
)

func TestWaitsGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := func() float64 { return 0.999999 }
		for _, c := range []struct {
			name    string
			options retry.Options
			fails   int
			after   time.Duration
			took    time.Duration
			ok      bool
		}{
			{"doubling", retry.Options{Random: one}, 3, 0, 700 * time.Millisecond, true},
			{"up to the limit", retry.Options{Random: one, Backoff: objectstore.Backoff{Max: time.Second}}, 6, 0, 3500 * time.Millisecond, true},
			{"ten times", retry.Options{Random: one, Backoff: objectstore.Backoff{Max: time.Second}}, 99, 0, 7500 * time.Millisecond, false},
			{"so often", retry.Options{Random: one, MaxRetries: 2}, 99, 0, 300 * time.Millisecond, false},
			{"so long", retry.Options{Random: one, Timeout: time.Second}, 99, 0, 700 * time.Millisecond, false},
			{"as asked", retry.Options{Random: one}, 2, 7 * time.Second, 14 * time.Second, true},
			{"jitter", retry.Options{Random: func() float64 { return 0.5 }}, 2, 0, 150 * time.Millisecond, true},
		} {
			fault := storetest.Fault{Before: objectstore.Transient(errFlaky, c.after)}
			s := retry.New(failing(memory.New(nil), objectstore.OpPut, c.fails, fault), c.options)
			begin := time.Now()
			_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil)
			if c.ok != (err == nil) || !c.ok && !errors.Is(err, errFlaky) {
				t.Errorf("%s: %v", c.name, err)
			}
			if took := time.Since(begin).Round(10 * time.Millisecond); took != c.took {
				t.Errorf("%s: took %v, want %v", c.name, took, c.took)
			}
		}
	})
}

func TestOnlyTransientErrorsAreRepeated(t *testing.T) {
	for _, err := range []error{
		objectstore.ErrNotFound, objectstore.ErrPermissionDenied, errors.New("unknown"), objectstore.NonRetryable(transient),
		objectstore.Transient(objectstore.NonRetryable(io.ErrUnexpectedEOF), 0),
	} {
		s := retry.New(failing(memory.New(nil), objectstore.OpPut, 1, storetest.Fault{Before: err}), retry.Options{Sleep: noSleep})
		if _, got := s.Put(t.Context(), "object", objectstore.Bytes(nil), nil); !errors.Is(got, err) {
			t.Errorf("%v was repeated: %v", err, got)
		}
	}
}

func TestStreamsAreSentOnce(t *testing.T) {
	inner := memory.New(nil)
	s := retry.New(failing(inner, objectstore.OpPut, 1, storetest.Fault{Before: transient}), retry.Options{Sleep: noSleep})
	if _, err := s.Put(t.Context(), "object", objectstore.Stream(strings.NewReader("x"), 1), nil); !errors.Is(err, errFlaky) {
		t.Fatal(err)
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s := retry.New(failing(memory.New(nil), objectstore.OpPut, 99, storetest.Fault{Before: transient}), retry.Options{
			Backoff: objectstore.Backoff{Init: time.Hour, Max: time.Hour}, MaxRetries: -1, Timeout: -1,
		})
		_, err := s.Put(ctx, "object", objectstore.Bytes(nil), nil)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errFlaky) {
			t.Fatal(err)
		}
	})
}

func TestLostAnswersAreMadeGood(t *testing.T) {
	lost := storetest.Fault{After: transient}
	options := retry.Options{Sleep: noSleep}
	create := &objectstore.PutOptions{Mode: objectstore.Create}

	inner := memory.New(nil)
	s := retry.New(failing(inner, objectstore.OpPut, 1, lost), options)
	_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("mine")), create)
	if !errors.Is(err, retry.ErrAmbiguous) || !errors.Is(err, objectstore.ErrAlreadyExists) {
		t.Errorf("create: %v, want both that it exists and that it may be ours", err)
	}

	unique := options
	unique.UniqueBodies = true
	s = retry.New(failing(memory.New(nil), objectstore.OpPut, 1, lost), unique)
	if result, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("mine")), create); err != nil || result.ETag == "" {
		t.Errorf("create of unique bytes: %v", err)
	}
	s = retry.New(failing(inner, objectstore.OpPut, 1, storetest.Fault{Before: transient}), unique)
	_, err = s.Put(t.Context(), "object", objectstore.Bytes([]byte("else")), create)
	if !errors.Is(err, objectstore.ErrAlreadyExists) {
		t.Errorf("create over another's object: %v", err)
	}

	s = retry.New(failing(inner, objectstore.OpDelete, 1, lost), options)
	if err := s.Delete(t.Context(), "object"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := s.Delete(t.Context(), "object"); !errors.Is(err, objectstore.ErrNotFound) {
		t.Errorf("delete of what is missing: %v", err)
	}

	s = retry.New(failing(inner, objectstore.OpCompleteMultipart, 1, lost), options)
	upload, err := s.PutMultipart(t.Context(), "big", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := upload.PutPart(t.Context(), 1, objectstore.Bytes([]byte("part"))); err != nil {
		t.Fatal(err)
	}
	result, err := upload.Complete(t.Context())
	if err != nil {
		t.Fatalf("complete: %v", err)
	}
	if head, err := objectstore.Head(t.Context(), s, "big"); err != nil || head.ETag != result.ETag {
		t.Errorf("complete says ETag %q, head %q, %v", result.ETag, head.ETag, err)
	}

	s = retry.New(failing(inner, objectstore.OpAbortMultipart, 1, lost), options)
	if upload, err = s.PutMultipart(t.Context(), "big", nil); err != nil {
		t.Fatal(err)
	}
	if err := upload.Abort(t.Context()); err != nil {
		t.Errorf("abort: %v", err)
	}
}

func TestBodyGoesOnWhereItBroke(t *testing.T) {
	data := strings.Repeat("0123456789", 20_000)
	inner := memory.New(nil)
	put := func(data string) {
		if _, err := inner.Put(t.Context(), "object", objectstore.Bytes([]byte(data)), nil); err != nil {
			t.Fatal(err)
		}
	}
	put(data)
	for _, fault := range []storetest.Fault{{Cut: true, CutAt: 0}, {Cut: true, CutAt: 70_000}, {Short: true, CutAt: 70_001}} {
		s := retry.New(failing(inner, objectstore.OpGet, 3, fault), retry.Options{Sleep: noSleep})
		result, err := s.Get(t.Context(), "object", &objectstore.GetOptions{Range: objectstore.Bounded(5, 199_999)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(result.Body)
		if err != nil || string(got) != data[5:199_999] {
			t.Errorf("%+v: read %d bytes, %v", fault, len(got), err)
		}
		_ = result.Body.Close()
	}
}

func TestBodyOfAReplacedObjectIsNotMixed(t *testing.T) {
	inner := memory.New(nil)
	for _, replace := range []func() error{
		func() error {
			_, err := inner.Put(t.Context(), "object", objectstore.Bytes([]byte("XXXXXXXXXX")), nil)
			return err
		},
		func() error { return inner.Delete(t.Context(), "object") },
	} {
		if _, err := inner.Put(t.Context(), "object", objectstore.Bytes([]byte("0123456789")), nil); err != nil {
			t.Fatal(err)
		}
		s := retry.New(failing(inner, objectstore.OpGet, 1, storetest.Fault{Cut: true, CutAt: 4}), retry.Options{Sleep: noSleep})
		result, err := s.Get(t.Context(), "object", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(result.Body)
		if err == nil || objectstore.IsTransient(err) || string(got) != "0123" {
			t.Errorf("read %q, %v", got, err)
		}
		_ = result.Body.Close()
	}
}

func TestListGoesOnAfterWhatItYielded(t *testing.T) {
	inner := memory.New(nil)
	var want, got []string
	for i := range 20 {
		path := fmt.Sprintf("%02d", i)
		want = append(want, path)
		if _, err := inner.Put(t.Context(), objectstore.Path(path), objectstore.Bytes(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	// A list breaks off after every third object.
	s := retry.New(&breaking{inner}, retry.Options{Sleep: noSleep, MaxRetries: 1})
	for meta, err := range s.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(meta.Path))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("listed %q", got)
	}
}

type breaking struct{ objectstore.Store }

func (b *breaking) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		n := 0
		for meta, err := range b.Store.List(ctx, options) {
			if n++; n > 3 {
				yield(objectstore.ObjectMeta{}, transient)
				return
			}
			if !yield(meta, err) {
				return
			}
		}
	}
}

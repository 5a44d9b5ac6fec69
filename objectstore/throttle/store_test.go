package throttle_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
	"github.com/stardustdb/stardust/objectstore/throttle"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return throttle.New(memory.New(nil), throttle.Options{Latency: time.Microsecond, BytesPerSecond: 1 << 40})
	}, storetest.Features{ListKeys: 50})
}

func TestEveryCallTakesTheLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttle.New(memory.New(nil), throttle.Options{Latency: 50 * time.Millisecond})
		took := func(name string, want time.Duration, call func() error) {
			begin := time.Now()
			if err := call(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if d := time.Since(begin); d != want {
				t.Errorf("%s took %v, want %v", name, d, want)
			}
		}
		took("put", 50*time.Millisecond, func() error {
			_, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil)
			return err
		})
		took("read", 50*time.Millisecond, func() error {
			_, _, err := objectstore.ReadAll(t.Context(), s, "object")
			return err
		})
		took("list", 50*time.Millisecond, func() error {
			for _, err := range s.List(t.Context(), nil) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		took("delete", 50*time.Millisecond, func() error { return s.Delete(t.Context(), "object") })
	})
}

func TestCallsShareTheBandwidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memory.New(nil)
		s := throttle.New(inner, throttle.Options{BytesPerSecond: 1 << 20})
		data := strings.Repeat("x", 1<<20)
		begin := time.Now()
		for _, body := range []objectstore.Body{
			objectstore.Bytes([]byte(data)), objectstore.Stream(strings.NewReader(data), 1<<20),
		} {
			if _, err := s.Put(t.Context(), "object", body, nil); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(begin).Round(10 * time.Millisecond); d != 2*time.Second {
			t.Errorf("writing 2 MiB took %v, want 2s", d)
		}
		begin = time.Now()
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				if got, _, err := objectstore.ReadAll(t.Context(), s, "object"); err != nil || string(got) != data {
					t.Errorf("read %d bytes, %v", len(got), err)
				}
			})
		}
		readers.Wait()
		if d := time.Since(begin).Round(10 * time.Millisecond); d != 3*time.Second {
			t.Errorf("three readers of 1 MiB took %v, want 3s", d)
		}
	})
}

func TestWaitsEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := throttle.New(memory.New(nil), throttle.Options{Latency: time.Hour, BytesPerSecond: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Put(ctx, "object", objectstore.Bytes([]byte("x")), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

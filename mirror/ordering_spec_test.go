package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func TestFetchThenEvictThenFetchLeavesTheObjectLocal(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		for range 50 {
			e.fetch("a/x")
			e.h.Evict("a/x")
			e.fetch("a/x")
			e.wantLocal("a/x", "bytes")
		}
	})
}

func TestPendingEvictionIsCanceledByAFetch(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		open := e.gateOn("get", "a/x")
		first := e.h.Fetch("a/x")
		e.h.Evict("a/x") // waits behind the download
		second := e.h.Fetch("a/x")
		open(nil)
		if err := errors.Join(first.Wait(e.Context()), second.Wait(e.Context())); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e.wantLocal("a/x", "bytes")
		if s := e.h.Stats(); s.EvictionsCanceled != 1 || s.Evictions != 0 || s.Downloads == nil && s.Counters.Downloads != 1 {
			t.Errorf("stats: %+v", s)
		}
		if n := e.remote.count("get", "a/x"); n != 1 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestPendingEvictionIsCanceledByAPrefetchAndByAWrite(t *testing.T) {
	for name, next := range map[string]func(e *env) error{
		"prefetch": func(e *env) error { e.h.Prefetch("a/x"); return nil },
		"write": func(e *env) error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.store("a/x", "bytes")
				open := e.gateOn("get", "a/x")
				first := e.h.Fetch("a/x")
				e.h.Evict("a/x")
				done := background(func() error { return next(e) })
				synctest.Wait()
				open(nil)
				if err := errors.Join(first.Wait(e.Context()), <-done); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				e.wantLocal("a/x", "bytes")
				if s := e.h.Stats(); s.EvictionsCanceled != 1 || s.Evictions != 0 {
					t.Errorf("stats: %+v", s.Counters)
				}
			})
		})
	}
}

func TestFetchWaitsForAnEvictionThatHasStarted(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		// Hold the eviction up in the middle, by the lock that its Removed
		// hook takes: it has begun.
		release := e.holdRemoval()
		e.h.Evict("a/x")
		synctest.Wait()
		fetch := e.h.Fetch("a/x")
		done := background(func() error { return fetch.Wait(e.Context()) })
		if !pending(done) {
			t.Fatal("the fetch did not wait for the eviction")
		}
		release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "bytes")
		if n := e.remote.count("get", "a/x"); n != 2 {
			t.Errorf("%d GETs, want the first and one after the eviction", n)
		}
	})
}

func TestFetchTakesItsPlaceWhenItIsCalled(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		fetch := e.h.Fetch("a/x")
		e.h.Evict("a/x")
		if err := fetch.Wait(e.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e.wantAbsent("a/x")
	})
}

func TestAFetchHoldsItsPlaceUntilItIsCanceled(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		open := e.gateOn("get", "a/x")
		fetch := e.h.Fetch("a/x")
		done := background(func() error { return e.m.Delete(e.Context(), "a/x") })
		if !pending(done) {
			t.Fatal("the delete overtook the fetch")
		}
		fetch.Cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		open(nil)
		if err := fetch.Wait(e.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait after Cancel: %v", err)
		}
		e.wantNoTemps()
	})
}

func TestAdjacentDownloadsShareOneGET(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.policy.routeReads(mirror.ReadRefetch)
		open := e.gateOn("get", "a/x")
		waits := []<-chan error{}
		for i := range 30 {
			switch i % 3 {
			case 0:
				fetch := e.h.Fetch("a/x")
				waits = append(waits, background(func() error { return fetch.Wait(e.Context()) }))
			case 1:
				e.h.Prefetch("a/x")
			case 2:
				waits = append(waits, background(func() error {
					got, err := e.read("a/x", nil)
					if err == nil && got != "bytes" {
						err = fmt.Errorf("read %q", got)
					}
					return err
				}))
			}
			synctest.Wait()
		}
		open(nil)
		for _, done := range waits {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := e.remote.count("get", "a/x"); n != 1 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestWritesDeletesAndEvictionsRunAlone(t *testing.T) {
	bubble(t, func(e *env) {
		open := e.gateOn("put", "a/x")
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("1")), nil)
			return err
		})
		synctest.Wait()
		second := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("2")), nil)
			return err
		})
		synctest.Wait()
		deleted := background(func() error { return e.m.Delete(e.Context(), "a/x") })
		fetch := e.h.Fetch("a/y") // another path does not wait
		if err := fetch.Wait(e.Context()); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("fetch of another path: %v", err)
		}
		if !pending(second) || e.remote.count("put", "a/x") != 1 {
			t.Error("the second write did not wait for the first")
		}
		if !pending(deleted) || e.remote.count("delete", "a/x") != 0 {
			t.Error("the delete overtook the writes")
		}
		open(nil)
		if err := errors.Join(<-write, <-second, <-deleted); err != nil {
			t.Fatal(err)
		}
		e.wantAbsent("a/x")
		if e.h.Stats().BusyPaths != 0 {
			t.Error("a turn is stuck")
		}
	})
}

func TestLocalReadsDoNotWaitInLine(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		open := e.gateOn("put", "a/x")
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		})
		synctest.Wait()
		e.wantLocal("a/x", "bytes")
		open(nil)
		if err := <-write; err != nil {
			t.Fatal(err)
		}
	})
}

func TestFirstCallersCancelLeavesTheOthersTheObject(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		open := e.gateOn("get", "a/x")
		first, second := e.h.Fetch("a/x"), e.h.Fetch("a/x")
		first.Cancel()
		ctx, cancel := context.WithCancel(e.Context())
		third := background(func() error { return e.h.Fetch("a/x").Wait(ctx) })
		synctest.Wait()
		cancel()
		if err := <-third; !errors.Is(err, context.Canceled) {
			t.Errorf("Wait of an ended context: %v", err)
		}
		open(nil)
		if err := second.Wait(e.Context()); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "bytes")
		if n := e.remote.count("get", "a/x"); n != 1 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestWaitOfAnEndedContextLeavesOtherWaitsAlone(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		open := e.gateOn("get", "a/x")
		fetch := e.h.Fetch("a/x")
		patient := background(func() error { return fetch.Wait(e.Context()) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		if err := fetch.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait: %v", err)
		}
		open(nil)
		if err := <-patient; err != nil {
			t.Fatal(err)
		}
	})
}

func TestADownloadThatNobodyWantsStops(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.gateOn("get", "a/x")
		fetch := e.h.Fetch("a/x")
		synctest.Wait()
		if s := e.h.Stats(); len(s.Downloads) != 1 || s.Downloads[0].Path != "a/x" {
			t.Errorf("downloads: %+v", s.Downloads)
		}
		fetch.Cancel()
		synctest.Wait()
		if s := e.h.Stats(); len(s.Downloads) != 0 || s.BusyPaths != 0 || s.DownloadFailures != 0 {
			t.Errorf("stats: %+v", s)
		}
		e.wantNoTemps()
		e.wantAbsent("a/x")
	})
}

func TestFetchOfManyFailsWithTheFirstFailureAndNamesIt(t *testing.T) {
	bubble(t, func(e *env) {
		var paths []objectstore.Path
		for i := range 20 {
			path := objectstore.Path(fmt.Sprintf("a/%d", i))
			if i != 7 {
				e.store(path, "bytes")
			}
			paths = append(paths, path)
		}
		err := e.h.Fetch(paths...).Wait(e.Context())
		var named *objectstore.Error
		if !errors.Is(err, objectstore.ErrNotFound) || !errors.As(err, &named) || named.Path != "a/7" {
			t.Fatalf("fetch: %v", err)
		}
		synctest.Wait()
		for _, path := range paths {
			if path != "a/7" {
				e.wantLocal(path, "bytes") // the others go on
			}
		}
	})
}

func TestFetchesGoBeforePrefetches(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = 1 }, func(e *env) {
		for _, path := range []objectstore.Path{"a/1", "a/2", "a/3", "a/4", "a/5"} {
			e.store(path, "bytes")
		}
		open := e.gateOn("get", "a/1")
		e.h.Prefetch("a/1", "a/2", "a/3", "a/4")
		synctest.Wait()
		urgent := e.h.Fetch("a/5", "a/4") // a/4 joins its prefetch and takes it along
		open(nil)
		if err := urgent.Wait(e.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var order []objectstore.Path
		for _, c := range e.remote.calls {
			order = append(order, c.path)
		}
		if got := fmt.Sprint(order); got != "[a/1 a/5 a/4 a/2 a/3]" {
			t.Errorf("GETs in the order %v", got)
		}
	})
}

package limit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/limit"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	// The suite keeps one body open while it makes another call.
	for _, calls := range []int{0, 2} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			storetest.Run(t, func(*testing.T) objectstore.Store { return limit.New(memory.New(nil), calls) }, storetest.Features{ListKeys: 50})
		})
	}
}

func TestNoMoreCallsRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, most := storetest.Slow(memory.New(nil), time.Second)
		s := limit.New(slow, 3)
		begin := time.Now()
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				if _, err := s.Put(t.Context(), objectstore.Path(fmt.Sprint(i)), objectstore.Bytes(nil), nil); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if most() != 3 || time.Since(begin) != 4*time.Second {
			t.Fatalf("%d ran at once, in %v; want 3, in 4s", most(), time.Since(begin))
		}
	})
}

func TestOpenBodyCountsUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(memory.New(nil), 1)
		if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
		result, err := s.Get(t.Context(), "object", nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := objectstore.Head(ctx, s, "object"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a second call got through: %v", err)
		}
		for range 2 { // closing twice frees one slot
			if err := result.Body.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := objectstore.Head(t.Context(), s, "object"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPathsToDeleteMayComeFromAList(t *testing.T) {
	s := limit.New(memory.New(nil), 1)
	for i := range 5 {
		if _, err := s.Put(t.Context(), objectstore.Path(fmt.Sprint(i)), objectstore.Bytes(nil), nil); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(yield func(objectstore.Path) bool) {
		for meta, err := range s.List(t.Context(), nil) {
			if err != nil || !yield(meta.Path) {
				return
			}
		}
	}
	deleted := 0
	for path, err := range objectstore.DeleteAll(t.Context(), s, listed) {
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		deleted++
	}
	if deleted != 5 {
		t.Fatalf("deleted %d of 5", deleted)
	}
}

func TestCopiesThatWriteWhatTheyReadDontWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limit.New(memory.New(nil), 2)
		if _, err := s.Put(t.Context(), "object", objectstore.Bytes([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
		var read, done sync.WaitGroup
		read.Add(2)
		for i := range 2 {
			done.Go(func() {
				result, err := s.Get(t.Context(), "object", nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer result.Body.Close()
				read.Done()
				read.Wait() // both hold a slot for reading now
				if _, err := s.Put(t.Context(), objectstore.Path(fmt.Sprint(i)), objectstore.Stream(result.Body, 1), nil); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
	})
}

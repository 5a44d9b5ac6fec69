package storetest

import (
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/objectstore"
)

// conditionalDeleteTests are for stores that are an [objectstore.ConditionalDeleter].
var conditionalDeleteTests = []test{
	{"deletes only the object that the caller knows", func(e *env) {
		deleter, ok := e.store.(objectstore.ConditionalDeleter)
		if !ok {
			e.Skip("the store has no conditional deletes")
		}
		e.wantError(deleter.DeleteMatching(e.ctx(), "dir/a", "*"), objectstore.ErrNotFound)
		old := e.put("dir/a", "1")
		current := e.put("dir/a", "two")
		for _, etag := range []string{old.ETag, "none", ""} {
			e.wantError(deleter.DeleteMatching(e.ctx(), "dir/a", etag), objectstore.ErrPrecondition)
		}
		e.holds("dir/a", "two")
		if err := deleter.DeleteMatching(e.ctx(), "dir/a", "none,"+current.ETag); err != nil {
			e.Fatal(err)
		}
		e.missing("dir/a")
		e.put("dir/a", "3")
		if err := deleter.DeleteMatching(e.ctx(), "dir/a", "*"); err != nil {
			e.Fatal(err)
		}
		e.missing("dir/a")
		e.wantError(deleter.DeleteMatching(e.ctx(), "bad\x00path", "*"), objectstore.ErrInvalidPath)
	}},
	{"never deletes what another has just written", func(e *env) {
		deleter, ok := e.store.(objectstore.ConditionalDeleter)
		if !ok {
			e.Skip("the store has no conditional deletes")
		}
		for range 20 {
			first := e.put("a", "1")
			var deleted, written atomic.Bool
			var group sync.WaitGroup
			group.Go(func() { deleted.Store(deleter.DeleteMatching(e.ctx(), "a", first.ETag) == nil) })
			group.Go(func() {
				_, err := e.store.Put(e.ctx(), "a", objectstore.Bytes([]byte("2")), &objectstore.PutOptions{
					Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: first.ETag},
				})
				written.Store(err == nil)
			})
			group.Wait()
			if deleted.Load() == written.Load() {
				e.Fatalf("deleted: %v, written: %v; want one of them", deleted.Load(), written.Load())
			}
			if written.Load() {
				e.holds("a", "2")
			}
		}
	}},
}

package storetest

import (
	"iter"
	"maps"
	"slices"

	"github.com/stardustdb/stardust/objectstore"
)

var deleteTests = []test{
	{"removes the object", func(e *env) {
		e.put("dir/a", "1")
		e.put("dir/b", "2")
		if err := e.store.Delete(e.ctx(), "dir/a"); err != nil {
			e.Fatal(err)
		}
		e.missing("dir/a")
		e.holds("dir/b", "2")
		if got := e.list(nil); !slices.Equal(got, []string{"dir/b"}) {
			e.Fatalf("listed %q", got)
		}
	}},
	{"of a missing object says so when the store knows", func(e *env) {
		e.put("dir/a", "1")
		for _, path := range []objectstore.Path{"missing", "dir/missing", "dir"} {
			err := e.store.Delete(e.ctx(), path)
			if e.features.LooseDelete && err == nil {
				continue
			}
			e.wantError(err, objectstore.ErrNotFound)
		}
		e.holds("dir/a", "1")
	}},
	{"of many goes on after a bad path", func(e *env) {
		e.put("a", "1")
		e.put("b", "2")
		results := map[objectstore.Path]error{}
		all := slices.Values([]objectstore.Path{"a", "bad\x00path", "missing", "b"})
		maps.Insert(results, objectstore.DeleteAll(e.ctx(), e.store, all))
		if len(results) != 4 {
			e.Fatalf("yielded %v", results)
		}
		for path, err := range results {
			if path == "bad\x00path" {
				e.wantError(err, objectstore.ErrInvalidPath)
			} else if err != nil {
				e.Errorf("%q: %v", path, err)
			}
		}
		e.missing("a")
		e.missing("b")
	}},
	{"of many stops when the consumer does", func(e *env) {
		e.put("a", "1")
		taken := 0
		for _, err := range objectstore.DeleteAll(e.ctx(), e.store, endless("a", &taken)) {
			if err != nil {
				e.Error(err)
			}
			break
		}
		if taken > 10_000 {
			e.Fatalf("%d paths were taken", taken)
		}
		e.missing("a")
	}},
}

// endless yields path for ever and counts.
func endless(path objectstore.Path, taken *int) iter.Seq[objectstore.Path] {
	return func(yield func(objectstore.Path) bool) {
		for yield(path) {
			*taken++
		}
	}
}

func paths(list []string) iter.Seq[objectstore.Path] {
	return func(yield func(objectstore.Path) bool) {
		for _, path := range list {
			if !yield(objectstore.Path(path)) {
				return
			}
		}
	}
}

func concat[T any](seqs ...iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, seq := range seqs {
			for item := range seq {
				if !yield(item) {
					return
				}
			}
		}
	}
}

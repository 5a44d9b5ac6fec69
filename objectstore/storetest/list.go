package storetest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

var listTests = []test{
	{"of an empty store is empty", func(e *env) {
		if got := e.list(nil); len(got) != 0 {
			e.Fatalf("listed %q", got)
		}
		result, err := e.store.ListWithDelimiter(e.ctx(), &objectstore.ListOptions{Prefix: "none/"})
		if err != nil || len(result.Objects)+len(result.CommonPrefixes) != 0 {
			e.Fatalf("listed %+v, %v", result, err)
		}
	}},
	{"describes each object", func(e *env) {
		etag := e.put("dir/object", "12345").ETag
		head, _ := e.get("dir/object", &objectstore.GetOptions{Head: true})
		for meta, err := range e.store.List(e.ctx(), nil) {
			if err != nil {
				e.Fatal(err)
			}
			if meta.Path != "dir/object" || meta.Size != 5 || meta.ETag != etag {
				e.Errorf("listed %+v, put returned ETag %q", meta, etag)
			}
			if d := meta.LastModified.Sub(head.Meta.LastModified).Abs().Seconds(); d >= 1 {
				e.Errorf("listed as modified at %v, head says %v", meta.LastModified, head.Meta.LastModified)
			}
		}
	}},
	{"is in the order of the bytes", func(e *env) {
		// "a-b" < "a/b" < "a0", although a file system meets "a/" first or
		// last; "Z" < "a" < "é".
		paths := []string{"a-b", "a.b", "a/b", "a/b-c", "a/b0", "a0", "Z", "b/c/d", "b/c0", "é/x", "ab"}
		for _, path := range paths {
			e.put(objectstore.Path(path), path)
		}
		slices.Sort(paths)
		if got := e.list(nil); !slices.Equal(got, paths) {
			e.Fatalf("listed %q, want %q", got, paths)
		}
	}},
	{"takes any string as prefix", func(e *env) {
		for _, path := range []objectstore.Path{"a/bc", "a/b0/c", "a/b/d", "a/x", "b"} {
			e.put(path, "")
		}
		for prefix, want := range map[string][]string{
			"a/b": {"a/b/d", "a/b0/c", "a/bc"}, "a/b/": {"a/b/d"}, "a": {"a/b/d", "a/b0/c", "a/bc", "a/x"},
			"a/bc": {"a/bc"}, "a/bcd": {}, "x": {}, "": {"a/b/d", "a/b0/c", "a/bc", "a/x", "b"}, "a/b/d/": {}, "b/": {},
		} {
			if got := e.list(&objectstore.ListOptions{Prefix: prefix}); !slices.Equal(got, want) {
				e.Errorf("prefix %q lists %q, want %q", prefix, got, want)
			}
		}
	}},
	{"begins after the offset", func(e *env) {
		for _, path := range []objectstore.Path{"a/1", "a/2", "a/2-x", "a/3", "b/1"} {
			e.put(path, "")
		}
		for _, c := range []struct {
			prefix, offset string
			want           []string
		}{
			{"", "a/2", []string{"a/2-x", "a/3", "b/1"}},
			{"", "a/2-", []string{"a/2-x", "a/3", "b/1"}},
			{"a/", "a/2", []string{"a/2-x", "a/3"}},
			{"a/", "b", []string{}},
			{"b/", "a", []string{"b/1"}},
			{"", "a/", []string{"a/1", "a/2", "a/2-x", "a/3", "b/1"}},
			{"", "zzz", []string{}},
			{"", "a/3", []string{"b/1"}},
		} {
			if got := e.list(&objectstore.ListOptions{Prefix: c.prefix, Offset: c.offset}); !slices.Equal(got, c.want) {
				e.Errorf("prefix %q offset %q lists %q, want %q", c.prefix, c.offset, got, c.want)
			}
		}
	}},
	{"with a delimiter shows one level", func(e *env) {
		for _, path := range []objectstore.Path{"top", "a/1", "a/2", "a/sub/x", "a/sub/y", "a/tub/z", "a-b/c", "b/deep/er/x"} {
			e.put(path, "")
		}
		for _, c := range []struct {
			prefix, offset    string
			objects, prefixes []string
		}{
			{"", "", []string{"top"}, []string{"a-b/", "a/", "b/"}},
			{"a/", "", []string{"a/1", "a/2"}, []string{"a/sub/", "a/tub/"}},
			{"a", "", nil, []string{"a-b/", "a/"}},
			{"a/s", "", nil, []string{"a/sub/"}},
			{"b/", "", nil, []string{"b/deep/"}},
			{"a/", "a/1", []string{"a/2"}, []string{"a/sub/", "a/tub/"}},
			{"a/", "a/sub/zzz", nil, []string{"a/tub/"}},
			{"none/", "", nil, nil},
			{"top", "", []string{"top"}, nil},
		} {
			result, err := e.store.ListWithDelimiter(e.ctx(), &objectstore.ListOptions{Prefix: c.prefix, Offset: c.offset})
			if err != nil {
				e.Fatalf("prefix %q: %v", c.prefix, err)
			}
			var objects []string
			for _, meta := range result.Objects {
				objects = append(objects, string(meta.Path))
			}
			if !slices.Equal(objects, c.objects) || !slices.Equal(result.CommonPrefixes, c.prefixes) {
				e.Errorf("prefix %q offset %q lists %q and %q, want %q and %q",
					c.prefix, c.offset, objects, result.CommonPrefixes, c.objects, c.prefixes)
			}
		}
	}},
	{"of more than a page is complete", testManyKeys},
	{"stops when the consumer does", func(e *env) {
		for i := range 5 {
			e.put(objectstore.Path(fmt.Sprint(i)), "")
		}
		seq := e.store.List(e.ctx(), nil)
		for range 2 { // a sequence can be iterated again
			seen := 0
			for _, err := range seq {
				if err != nil {
					e.Fatal(err)
				}
				if seen++; seen == 2 {
					break
				}
			}
			if seen != 2 {
				e.Fatalf("saw %d", seen)
			}
		}
	}},
	{"may delete what it lists", func(e *env) {
		for i := range 20 {
			e.put(objectstore.Path(fmt.Sprintf("dir%d/%d", i%4, i)), "")
		}
		seen := 0
		for meta, err := range e.store.List(e.ctx(), nil) {
			if err != nil {
				e.Fatal(err)
			}
			if err := e.store.Delete(e.ctx(), meta.Path); err != nil {
				e.Fatal(err)
			}
			seen++
		}
		if left := e.list(nil); seen != 20 || len(left) > 0 {
			e.Fatalf("listed %d of 20, left %q", seen, left)
		}
	}},
}

func testManyKeys(e *env) {
	var want []string
	for i := range e.features.ListKeys {
		want = append(want, fmt.Sprintf("dir/%d/key %04d", i%7, i))
	}
	var writers sync.WaitGroup
	work := make(chan string)
	for range 8 {
		writers.Go(func() {
			for path := range work {
				if _, err := e.store.Put(e.ctx(), objectstore.Path(path), objectstore.Bytes([]byte("x")), nil); err != nil {
					e.Errorf("put %q: %v", path, err)
				}
			}
		})
	}
	for _, path := range want {
		work <- path
	}
	close(work)
	writers.Wait()

	slices.Sort(want)
	if got := e.list(&objectstore.ListOptions{Prefix: "dir/"}); !slices.Equal(got, want) {
		e.Fatalf("listed %d paths, want %d in order", len(got), len(want))
	}
	middle := len(want) / 3
	if got := e.list(&objectstore.ListOptions{Offset: want[middle]}); !slices.Equal(got, want[middle+1:]) {
		e.Fatalf("listed %d paths after the offset, want %d", len(got), len(want)-middle-1)
	}
	result, err := e.store.ListWithDelimiter(e.ctx(), &objectstore.ListOptions{Prefix: "dir/"})
	if err != nil || len(result.CommonPrefixes) != 7 || len(result.Objects) != 0 {
		e.Fatalf("one level is %d objects and %q, %v", len(result.Objects), result.CommonPrefixes, err)
	}
	missing := slices.Values([]objectstore.Path{"missing"})
	deleted := 0
	for path, err := range objectstore.DeleteAll(e.ctx(), e.store, concat(missing, paths(want))) {
		if err != nil {
			e.Fatalf("delete %q: %v", path, err)
		}
		deleted++
	}
	if left := e.list(nil); len(left) > 0 || deleted != len(want)+1 {
		e.Fatalf("deleted %d of %d, %d are left", deleted, len(want)+1, len(left))
	}
}

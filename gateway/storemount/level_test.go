package storemount

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// storeOf returns a store with these keys, each with its own name as content.
func storeOf(t testing.TB, keys ...string) objectstore.Store {
	t.Helper()
	store := memory.New(nil)
	for _, key := range keys {
		path, err := objectstore.KeyPath(key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Put(t.Context(), path, objectstore.Bytes([]byte(key)), nil); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// namesOf lists a level: directories end in a slash, hidden names say why.
func namesOf(t testing.TB, store objectstore.Store, prefix string) []string {
	t.Helper()
	var names []string
	for e, err := range level(t.Context(), store, prefix) {
		if err != nil {
			t.Fatal(err)
		}
		text := e.name
		if e.directory {
			text += "/"
		}
		if e.hidden != "" {
			text += ": " + e.hidden
		}
		names = append(names, text)
	}
	slices.Sort(names)
	return names
}

func TestALevelHasEachNameOnce(t *testing.T) {
	long := strings.Repeat("n", maxName+1)
	store := storeOf(t, "a", "a-b", "a-b/c", "a.", "a/b", "a/c/d", "a0", "b", "b!", "b/", "c/", "d//e", "/f", "./g", "h/../i", long, long[1:], long+"/k", "é\n")
	for prefix, want := range map[string][]string{
		"": {
			"/: an empty segment", "./: the segment .", "a-b/", "a-b: a directory has its name", "a.", "a/", "a0", "a: a directory has its name",
			"b!", "b/", "b: a directory has its name", "c/", "d/", "h/", long[1:], long + "/: a segment of more than 255 bytes", long + ": a segment of more than 255 bytes", "é\n",
		},
		"a/": {"b", "c/"}, "b/": nil, "c/": nil, "d/": {"/: an empty segment"}, "h/": {"../: the segment .."}, "z/": nil, "a-b/": {"c"},
	} {
		slices.Sort(want)
		if got := namesOf(t, store, prefix); !slices.Equal(got, want) {
			t.Errorf("level %q:\ngot  %q\nwant %q", prefix, got, want)
		}
	}
}

// countingStore counts what its lists yield.
type countingStore struct {
	objectstore.Store
	yielded, lists int
}

func (c *countingStore) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	c.lists++
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for meta, err := range c.Store.List(ctx, options) {
			c.yielded++
			if !yield(meta, err) {
				return
			}
		}
	}
}

// What lies far beneath a directory costs its parent's list a page.
func TestALevelPassesOverLargeDirectories(t *testing.T) {
	var keys []string
	for i := range 5 * skipAfter {
		keys = append(keys, fmt.Sprintf("large/\U0010FFFF%d", i), fmt.Sprintf("large/%05d", i))
	}
	store := &countingStore{Store: storeOf(t, append(keys, "large", "larger", "z")...)}
	if got := namesOf(t, store, ""); !slices.Equal(got, []string{"large/", "large: a directory has its name", "larger", "z"}) {
		t.Errorf("got %q", got)
	}
	if store.yielded > 7*skipAfter { // what sorts behind the last character can't be passed over
		t.Errorf("%d objects were listed", store.yielded)
	}
}

// Levels and find agree with a plain reading of the keys, whatever they are.
func TestLevelsAndNamesAgreeWithTheKeys(t *testing.T) {
	for seed := range uint64(300) {
		source := rand.New(rand.NewPCG(seed, 1))
		keys := map[string]bool{}
		for range source.IntN(12) + 1 {
			key := ""
			for range source.IntN(5) + 1 {
				key += []string{"a", "b", "/", "-", "0", ".", "a/"}[source.IntN(7)]
			}
			keys[key] = true
		}
		store := storeOf(t, slices.Collect(maps.Keys(keys))...)
		prefixes := map[string]bool{"": true}
		for key := range keys {
			for i := range key {
				if key[i] == '/' {
					prefixes[key[:i+1]] = true
				}
			}
		}
		for prefix := range prefixes {
			checkLevel(t, store, keys, prefix)
		}
	}
}

func checkLevel(t *testing.T, store objectstore.Store, keys map[string]bool, prefix string) {
	t.Helper()
	directories, objects := map[string]bool{}, map[string]bool{}
	for key := range keys {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || rest == "" {
			continue
		}
		if name, _, deep := strings.Cut(rest, "/"); deep {
			directories[name] = true
		} else {
			objects[name] = true
		}
	}
	seen := map[string]int{}
	for e, err := range level(t.Context(), store, prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if e.directory != directories[e.name] && e.hidden == "" || !e.directory && !objects[e.name] {
			t.Fatalf("keys %q, level %q: %q is no such entry", slices.Collect(maps.Keys(keys)), prefix, e.name)
		}
		if e.hidden == "" {
			seen[e.name]++
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(directories)), slices.Collect(maps.Keys(objects)), []string{"no"}) {
		if whyHidden(name) != "" {
			continue
		}
		found, ok, err := find(t.Context(), store, prefix, name)
		if err != nil || ok != (directories[name] || objects[name]) || ok && found.directory != directories[name] {
			t.Fatalf("keys %q: find %q in %q: %+v, %v, %v", slices.Collect(maps.Keys(keys)), name, prefix, found, ok, err)
		}
		if want := 1; ok && seen[name] != want {
			t.Fatalf("keys %q: %q is %d times in level %q", slices.Collect(maps.Keys(keys)), name, seen[name], prefix)
		}
	}
}

// A name with many that begin with it, and sort before a slash, is found in two lists.
func TestANameIsFoundBehindManyThatBeginWithIt(t *testing.T) {
	keys := []string{"a", "a/b", "c"}
	for i := range 3 * skipAfter {
		keys = append(keys, fmt.Sprintf("a-%05d", i), fmt.Sprintf("c-%05d", i))
	}
	store := &countingStore{Store: storeOf(t, keys...)}
	for name, directory := range map[string]bool{"a": true, "c": false} {
		found, ok, err := find(t.Context(), store, "", name)
		if err != nil || !ok || found.directory != directory {
			t.Errorf("find %q: %+v, %v, %v", name, found, ok, err)
		}
	}
	if store.yielded > 3*skipAfter || store.lists != 4 {
		t.Errorf("%d objects in %d lists", store.yielded, store.lists)
	}
}

func TestAFailedListEndsALevelWithItsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var failed error
	for _, err := range level(ctx, storeOf(t, "a", "b"), "") {
		failed = err
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("got %v", failed)
	}
	if _, _, err := find(ctx, storeOf(t, "a"), "", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("find: %v", err)
	}
}

package mirror_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// bucket returns a store with some objects, which stands for one far away.
func bucket(paths ...objectstore.Path) objectstore.Store {
	store := memory.New(nil)
	for _, path := range paths {
		if _, err := store.Put(context.Background(), path, objectstore.Bytes([]byte("content of "+path)), nil); err != nil {
			log.Fatal(err)
		}
	}
	return store
}

// example opens a mirror of a bucket in a new directory, and calls fn with it.
func example(policy mirror.Policy, fn func(context.Context, *mirror.Mirror) error, paths ...objectstore.Path) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m, err := mirror.Open(ctx, dir, bucket(paths...), policy, &mirror.Options{Verify: true, WithoutRemoteScan: true})
	if err != nil {
		log.Print(err)
		return
	}
	err = fn(ctx, m)
	if closed := m.Close(); err == nil {
		err = closed
	}
	if err != nil {
		log.Print(err)
	}
}

// A mirror is a store itself: what its policy keeps is read from the local disk.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	remote := bucket("models/a", "models/b", "other")

	m, err := mirror.Open(ctx, dir, remote, &mirror.KeepAll{Prefix: "models/"}, &mirror.Options{Verify: true})
	if err != nil {
		log.Print(err)
		return
	}
	defer m.Close()
	data, _, err := objectstore.ReadAll(ctx, m, "models/a")
	fmt.Printf("%s, %v, local: %t\n", data, err, m.Handle().Contains("models/a"))
	data, _, err = objectstore.ReadAll(ctx, m, "other")
	fmt.Printf("%s, %v, local: %t\n", data, err, m.Handle().Contains("other"))
	// Output:
	// content of models/a, <nil>, local: true
	// content of other, <nil>, local: false
}

// Rules say by prefix, suffix and glob what is kept.
func ExampleNewRules() {
	policy, err := mirror.NewRules(
		mirror.Rule{Prefix: "db/tmp/"}, // to the remote only
		mirror.Keep("db/"),
	)
	if err != nil {
		log.Fatal(err)
	}
	example(policy, func(ctx context.Context, m *mirror.Mirror) error {
		for _, path := range []objectstore.Path{"db/a", "db/tmp/b"} {
			if _, err := m.Put(ctx, path, objectstore.Bytes([]byte("content")), nil); err != nil {
				return err
			}
			fmt.Println(path, m.Handle().Contains(path))
		}
		return nil
	})
	// Output:
	// db/a true
	// db/tmp/b false
}

// An LRU keeps what was read last, up to a number of bytes.
func ExampleNewLRU() {
	policy, err := mirror.NewLRU(25) // two of the objects
	if err != nil {
		log.Fatal(err)
	}
	example(policy, func(ctx context.Context, m *mirror.Mirror) error {
		for _, path := range []objectstore.Path{"a", "b", "a", "c"} {
			if _, _, err := objectstore.ReadAll(ctx, m, path); err != nil {
				return err
			}
		}
		_, err := m.Evict(ctx, "b") // has gone or goes now, since a was read after it
		fmt.Println(policy.Bytes(), "bytes,", m.Handle().Contains("a"), m.Handle().Contains("c"))
		return err
	}, "a", "b", "c")
	// Output: 24 bytes, true true
}

// Fetch has objects local when Wait returns; Contains tells, without a request.
func ExampleHandle_Fetch() {
	example(&mirror.KeepAll{WithoutWarming: true}, func(ctx context.Context, m *mirror.Mirror) error {
		h := m.Handle()
		if err := h.Fetch("a", "b").Wait(ctx); err != nil {
			return err
		}
		fmt.Println(h.Contains("a"), h.Contains("b"), h.Contains("c"))
		return nil
	}, "a", "b", "c")
	// Output: true true false
}

// Warm downloads everything under a prefix.
func ExampleWarm() {
	example(&mirror.KeepAll{WithoutWarming: true}, func(ctx context.Context, m *mirror.Mirror) error {
		if err := mirror.Warm(ctx, m.Handle(), "logs/"); err != nil {
			return err
		}
		for object := range m.Handle().Entries() {
			fmt.Println(object.Path, object.Size)
		}
		return nil
	}, "logs/1", "other")
	// Output: logs/1 17
}

// Verify reads every local copy and names the damaged ones.
func ExampleMirror_Verify() {
	example(&mirror.KeepAll{WithoutWarming: true}, func(ctx context.Context, m *mirror.Mirror) error {
		if err := m.Handle().Fetch("a", "b").Wait(ctx); err != nil {
			return err
		}
		damaged := 0
		for _, err := range m.Verify(ctx) {
			if err != nil {
				damaged++
			}
		}
		fmt.Println(damaged, "damaged")
		return nil
	}, "a", "b")
	// Output: 0 damaged
}

// Evict drops local copies alone; the next read downloads the object again.
func ExampleMirror_Evict() {
	example(&mirror.KeepAll{WithoutWarming: true}, func(ctx context.Context, m *mirror.Mirror) error {
		if err := m.Handle().Fetch("a").Wait(ctx); err != nil {
			return err
		}
		removed, err := m.Evict(ctx, "a")
		fmt.Println(removed, "removed, local:", m.Handle().Contains("a"))
		return err
	}, "a")
	// Output: 1 removed, local: false
}

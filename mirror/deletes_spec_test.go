package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func TestDeleteRemovesTheRemoteObjectTheLocalCopyAndTheMapEntry(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		if err := e.m.Delete(e.Context(), "a/x"); err != nil {
			t.Fatal(err)
		}
		e.wantAbsent("a/x")
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
		if _, err := objectstore.Head(e.Context(), e.remote, "a/x"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("remote: %v", err)
		}
		if s := e.h.Stats(); s.Objects != 0 || s.Bytes != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestDeleteOfWhatIsNotLocalPassesThrough(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		if err := e.m.Delete(e.Context(), "a/x"); err != nil {
			t.Fatal(err)
		}
		if err := e.m.Delete(e.Context(), "a/x"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("second delete: %v", err)
		}
	})
}

func TestDeletionsRunInParallelAndDoNotAffectEachOther(t *testing.T) {
	boom := errors.New("boom")
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		open := e.gateOn("delete", "a/x")
		done := background(func() error { return e.m.Delete(e.Context(), "a/x") })
		synctest.Wait()
		e.wantAbsent("a/x") // while the remote still works
		open(boom)
		if err := <-done; !errors.Is(err, boom) || objectstore.IsNonRetryable(err) {
			t.Errorf("delete: %v", err)
		}
		e.fetch("a/x")
		e.failOn(vfs.OpRemove, ".x.obj", boom)
		err := e.m.Delete(e.Context(), "a/x")
		var failure *mirror.Local
		if !errors.As(err, &failure) || !errors.Is(err, boom) {
			t.Errorf("delete whose local part fails: %v", err)
		}
		e.onDisk(nil)
		e.wantAbsent("a/x")
		if _, err := objectstore.Head(e.Context(), e.remote, "a/x"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("remote: %v", err)
		}
		// The scan finds the file that the map has lost track of.
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != 1 || len(e.files()) != 0 {
			t.Errorf("scan: %+v, %v; files %v", result, err, e.files())
		}
	})
}

func TestDeleteRemovesAFileThatTheMapHasLostTrackOf(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.failOn(vfs.OpRemove, ".x.obj", errors.New("boom"))
		e.h.Evict("a/x")
		synctest.Wait()
		e.onDisk(nil)
		e.wantAbsent("a/x")
		if len(e.files()) != 2 {
			t.Fatalf("files: %v", e.files())
		}
		if err := e.m.Delete(e.Context(), "a/x"); err != nil || len(e.files()) != 0 {
			t.Errorf("delete: %v; files %v", err, e.files())
		}
	})
}

func TestDeleteWaitsForAnEarlierWriteOfThePath(t *testing.T) {
	bubble(t, func(e *env) {
		open := e.gateOn("put", "a/x")
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		})
		synctest.Wait()
		deleted := background(func() error { return e.m.Delete(e.Context(), "a/x") })
		if !pending(deleted) || e.remote.count("delete", "a/x") != 0 {
			t.Error("the delete overtook the write")
		}
		open(nil)
		if err := errors.Join(<-write, <-deleted); err != nil {
			t.Fatal(err)
		}
		e.wantAbsent("a/x")
		if _, err := objectstore.Head(e.Context(), e.remote, "a/x"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("remote: %v", err)
		}
	})
}

func TestDeleteWhoseCallerGivesUpWhileWaiting(t *testing.T) {
	bubble(t, func(e *env) {
		open := e.gateOn("put", "a/x")
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		if err := e.m.Delete(ctx, "a/x"); !errors.Is(err, context.Canceled) {
			t.Errorf("delete: %v", err)
		}
		for _, err := range e.m.DeleteAll(ctx, slices.Values([]objectstore.Path{"a/x", "a/y"})) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("bulk delete: %v", err)
			}
		}
		open(nil)
		if err := <-write; err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestBulkDeleteRemovesBothSidesOfAll(t *testing.T) {
	bubble(t, func(e *env) {
		var paths []objectstore.Path
		for i := range 50 {
			path := objectstore.Path(fmt.Sprintf("a/%02d", i))
			e.put(path, "bytes")
			paths = append(paths, path)
		}
		asked := append(slices.Clone(paths), "a/missing", paths[0]) // one twice
		n := 0
		for path, err := range e.m.DeleteAll(e.Context(), slices.Values(asked)) {
			if err != nil || path != asked[n] {
				t.Errorf("%d: %q, %v", n, path, err)
			}
			n++
		}
		if n != len(asked) || len(e.files()) != 0 || e.h.Stats().BusyPaths != 0 {
			t.Errorf("yielded %d, files %v", n, e.files())
		}
		for _, err := range e.m.DeleteAll(e.Context(), slices.Values(paths)) {
			if err != nil {
				t.Error(err)
			}
			break // a consumer that stops early leaves no turn behind
		}
		if e.h.Stats().BusyPaths != 0 {
			t.Error("a turn is stuck")
		}
	})
}

func TestBulkDeletesInOppositeOrdersDoNotWaitForEachOther(t *testing.T) {
	bubble(t, func(e *env) {
		paths := []objectstore.Path{"a/1", "a/2", "a/3", "a/4", "a/5"}
		back := slices.Clone(paths)
		slices.Reverse(back)
		all := func(paths []objectstore.Path) <-chan error {
			return background(func() error {
				for range 200 {
					for _, err := range e.m.DeleteAll(e.Context(), slices.Values(paths)) {
						if err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
		a, b := all(paths), all(back)
		if err := errors.Join(<-a, <-b); err != nil {
			t.Fatal(err)
		}
	})
}

func TestCopyAndRenameAreRefusedAndNeverReachTheRemote(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		for op, err := range map[string]error{
			"copy":   e.m.Copy(e.Context(), "a/x", "a/y", nil),
			"rename": e.m.Rename(e.Context(), "a/x", "a/y", nil),
		} {
			var refused *mirror.Unsupported
			if !errors.As(err, &refused) || refused.Operation != op || !objectstore.IsNonRetryable(err) || !errors.Is(err, objectstore.ErrUnsupported) {
				t.Errorf("%s: %v", op, err)
			}
			if n := e.remote.count(op, ""); n != 0 {
				t.Errorf("%s reached the remote", op)
			}
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestListsGoToTheRemote(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.store("a/b/y", "bytes")
		var paths []objectstore.Path
		for meta, err := range e.m.List(e.Context(), &objectstore.ListOptions{Prefix: "a/"}) {
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, meta.Path)
		}
		if !slices.Equal(paths, []objectstore.Path{"a/b/y", "a/x"}) {
			t.Errorf("listed %v", paths)
		}
		level, err := e.m.ListWithDelimiter(e.Context(), &objectstore.ListOptions{Prefix: "a/"})
		if err != nil || len(level.Objects) != 1 || !slices.Equal(level.CommonPrefixes, []string{"a/b/"}) {
			t.Errorf("listed %+v, %v", level, err)
		}
	})
}

func TestEvictRemovesTheLocalCopyOnly(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.h.Evict("a/x", "a/missing")
		synctest.Wait()
		e.wantAbsent("a/x")
		if len(e.files()) != 0 || e.remoteData("a/x") != "bytes" {
			t.Errorf("files: %v", e.files())
		}
		if s := e.h.Stats(); s.Evictions != 1 || s.PendingEvictions != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func scanning(d time.Duration) func(*mirror.Options) {
	return func(o *mirror.Options) { o.RemoteScanInterval, o.WithoutRemoteScan = d, false }
}

func TestScanRunsAtOpenAndThenEveryInterval(t *testing.T) {
	bubbleWith(t, scanning(10*time.Minute), func(e *env) {
		e.put("a/x", "bytes")
		e.put("a/y", "bytes")
		synctest.Wait()
		e.unstore("a/x")
		if err := (mirror.SystemClock{}).Sleep(e.Context(), 9*time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e.wantLocal("a/x", "bytes")
		if err := (mirror.SystemClock{}).Sleep(e.Context(), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e.wantAbsent("a/x")
		e.wantLocal("a/y", "bytes")
		e.close()
		e.unstore("a/y")
		e.open()
		synctest.Wait()
		e.wantAbsent("a/y")
		if s := e.h.Stats(); s.LastScan.Removed != 1 || s.LastScan.Prefixes != 1 || s.ScanRemoved != 1 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestScanThatIsOffNeverLists(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.unstore("a/x")
		e.reopen()
		if err := (mirror.SystemClock{}).Sleep(e.Context(), 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := e.remote.count("list", ""); n != 0 {
			t.Errorf("%d LISTs", n)
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestScanListsEachDistinctParentOnce(t *testing.T) {
	bubble(t, func(e *env) {
		for _, path := range []objectstore.Path{"a/1", "a/2", "a/b/1", "c/1", "root"} {
			e.put(path, "bytes")
		}
		e.unstore("a/2")
		e.unstore("root")
		e.store("a/b/2", "never local")
		result, err := e.m.Scan(e.Context())
		if err != nil || result.Local != 5 || result.Prefixes != 4 || result.Removed != 2 {
			t.Errorf("scan: %+v, %v", result, err)
		}
		var prefixes []string
		for _, c := range e.remote.calls {
			if c.op == "list" {
				prefixes = append(prefixes, string(c.path))
			}
		}
		if got := fmt.Sprint(prefixes); got != "[ a/ a/b/ c/]" {
			t.Errorf("listed %q", got)
		}
		for path, local := range map[objectstore.Path]bool{"a/1": true, "a/2": false, "a/b/1": true, "c/1": true, "root": false} {
			if e.h.Contains(path) != local {
				t.Errorf("Contains(%q) is %v", path, !local)
			}
		}
	})
}

func TestScanTakesItsSnapshotBeforeTheLIST(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/old", "bytes")
		open := e.gateOn("list", "a/")
		scan := background(func() error { _, err := e.m.Scan(e.Context()); return err })
		synctest.Wait()
		// Written, and installed, while the LIST runs: a LIST that does not
		// see it yet must not cost the new copy.
		e.put("a/new", "bytes")
		e.unstore("a/new")
		open(nil)
		if err := <-scan; err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/new", "bytes")
	})
}

func TestScanDoesNotRemoveACopyThatReplacedTheOneItSaw(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "old")
		e.unstore("a/x")
		listed := make(chan struct{})
		e.remote.setHook(func(_ context.Context, c call) error {
			if c.op == "put" {
				<-listed
			}
			return nil
		})
		// The write holds the path's turn while the scan decides.
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("new")), nil)
			return err
		})
		synctest.Wait()
		scan := background(func() error { _, err := e.m.Scan(e.Context()); return err })
		if !pending(scan) {
			t.Fatal("the scan's deletion did not wait for the write")
		}
		close(listed)
		if err := errors.Join(<-write, <-scan); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "new")
	})
}

func TestScanDeletionIsCanceledLikeAnEviction(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.unstore("a/x")
		open := e.gateOn("get", "a/x")
		e.policy.routeReads(mirror.ReadRefetch)
		refetch := background(func() error { _, err := e.read("a/x", nil); return err })
		synctest.Wait()
		scan := background(func() error { _, err := e.m.Scan(e.Context()); return err })
		synctest.Wait()
		fetch := e.h.Fetch("a/x") // cancels it and joins the refetch
		open(objectstore.ErrNotFound)
		if err := <-scan; err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-refetch, fetch.Wait(e.Context())); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("refetch: %v", err)
		}
		if s := e.h.Stats(); s.EvictionsCanceled != 1 || s.BusyPaths != 0 {
			t.Errorf("stats: %+v", s.Counters)
		}
	})
}

func TestScanReadsTheDiskNotTheMap(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.put("a/y", "bytes")
		e.failOn(vfs.OpRemove, ".x.obj", errors.New("boom"))
		e.h.Evict("a/x") // the map loses track of the files
		synctest.Wait()
		e.onDisk(nil)
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != 0 || len(e.files()) != 4 {
			t.Errorf("scan while the object exists: %+v, %v", result, err)
		}
		e.unstore("a/x")
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != 1 || len(e.files()) != 2 {
			t.Errorf("scan: %+v, %v; files %v", result, err, e.files())
		}
	})
}

func TestScanReadsThePathOfAnUnknownPrefixFromMeta(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("only/x", "bytes")
		e.failOn(vfs.OpRemove, ".x.obj", errors.New("boom"))
		e.h.Evict("only/x") // the prefix is unknown now
		synctest.Wait()
		e.onDisk(nil)
		e.unstore("only/x")
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != 1 || len(e.files()) != 0 {
			t.Errorf("scan: %+v, %v; files %v", result, err, e.files())
		}
	})
}

func TestScanLeavesAloneWhatItCouldNotList(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.put("b/x", "bytes")
		e.unstore("a/x")
		e.unstore("b/x")
		boom := errors.New("boom")
		e.remote.setHook(func(_ context.Context, c call) error {
			if c.op == "list" && c.path == "a/" {
				return boom
			}
			return nil
		})
		result, err := e.m.Scan(e.Context())
		if !errors.Is(err, boom) || result.Failed != 1 || result.Removed != 1 {
			t.Errorf("scan: %+v, %v", result, err)
		}
		e.wantLocal("a/x", "bytes")
		e.wantAbsent("b/x")
		if s := e.h.Stats(); s.ScanFailures != 1 {
			t.Errorf("stats: %+v", s.Counters)
		}
	})
}

func TestScanOfOddPathsAsksForThemByName(t *testing.T) {
	bubble(t, func(e *env) {
		odd := []objectstore.Path{"a/", "a//b", "/lead", "x/./y", "é/ü", objectstore.Path("long/" + strings.Repeat("n", 300))}
		for _, path := range odd {
			e.put(path, string(path))
		}
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != 0 || result.Local != len(odd) {
			t.Errorf("scan: %+v, %v", result, err)
		}
		for _, path := range odd {
			e.unstore(path)
		}
		if result, err := e.m.Scan(e.Context()); err != nil || result.Removed != len(odd) || len(e.files()) != 0 {
			t.Errorf("scan: %+v, %v; files %v", result, err, e.files())
		}
	})
}

func TestScanLeavesForeignAndTemporaryFilesAlone(t *testing.T) {
	bubble(t, func(e *env) {
		e.disk.WriteFile(dir+"/notes.txt", []byte("mine"))
		e.disk.WriteFile(dir+"/00000000000000000000000000000000.x.obj.77", []byte("temp"))
		if result, err := e.m.Scan(e.Context()); err != nil || result.Local != 0 || len(e.files()) != 2 {
			t.Errorf("scan: %+v, %v; files %v", result, err, e.files())
		}
	})
}

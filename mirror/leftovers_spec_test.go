package mirror_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func TestEvictionThatCannotRemoveTheFilesSaysSo(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.failOn(vfs.OpRemove, ".x.obj", syscall.EIO)
		removed, err := e.m.Evict(e.Context(), "a/x")
		var local *mirror.Local
		if removed != 0 || !errors.As(err, &local) || !errors.Is(err, syscall.EIO) || strings.Count(err.Error(), "\n") > 0 {
			e.Errorf("evicted %d: %v", removed, err)
		}
		e.wantAbsent("a/x")
		if s := e.h.Stats(); s.Leftovers != 1 || s.Objects != 0 {
			e.Errorf("%d leftovers, %d objects", s.Leftovers, s.Objects)
		}
		e.onDisk(nil)
	})
}

// A file that could not be removed must not be a copy of a deleted object at the
// next start.
func TestWhatCouldNotBeRemovedIsRemovedLater(t *testing.T) {
	for name, later := range map[string]func(e *env){
		"in time":     func(e *env) { time.Sleep(2 * mirror.DefaultIndexInterval); synctest.Wait() },
		"at Close":    func(e *env) { e.reopen() },
		"another try": func(e *env) { _ = e.m.Delete(e.Context(), "a/x") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.put("a/x", "bytes")
				e.failOn(vfs.OpRemove, ".x.obj", syscall.EIO)
				if err := e.m.Delete(e.Context(), "a/x"); !errors.Is(err, syscall.EIO) || strings.Count(err.Error(), "\n") > 0 {
					t.Errorf("delete: %v", err)
				}
				e.onDisk(nil)
				later(e)
				if s := e.h.Stats(); len(e.files()) != 0 || s.Leftovers != 0 {
					t.Errorf("files %v, %d leftovers", e.files(), s.Leftovers)
				}
				e.reopen()
				e.wantAbsent("a/x")
			})
		})
	}
}

func TestWhatCouldNotBeRemovedIsNotRemovedOnceItIsACopyAgain(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.failOn(vfs.OpRemove, ".x.obj", syscall.EIO)
		if _, err := e.m.Evict(e.Context(), "a/x"); err == nil {
			t.Error("no error")
		}
		e.onDisk(nil)
		e.fetch("a/x")
		time.Sleep(2 * mirror.DefaultIndexInterval)
		synctest.Wait()
		e.wantLocal("a/x", "bytes")
	})
}

// A file that someone cut fails the read that finds it so, and no other.
func TestCopyThatWasCutIsDownloadedAgain(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.disk.WriteFile(e.file(".x.obj"), []byte("by"))
		e.policy.routeReads(mirror.ReadThrough)
		if _, err := e.read("a/x", nil); err == nil {
			e.Error("a cut copy was read")
		}
		if got, err := e.read("a/x", nil); err != nil || got != "bytes" {
			e.Errorf("read %q, %v", got, err)
		}
		e.wantLocal("a/x", "bytes")
		if n := e.h.Stats().StaleEntriesDropped; n != 1 {
			e.Errorf("%d entries were dropped", n)
		}
	})
}

func TestIdentityIsTheSameWithASlashAtItsEnd(t *testing.T) {
	identity := ""
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, func(o *mirror.Options) { o.Identity = identity })
		for _, identity = range []string{"s3://b?endpoint=http://h:9000", "s3://b?endpoint=http://h:9000/"} {
			e.open()
			e.close()
		}
		identity = "s3://b?endpoint=http://h:9001"
		if _, err := e.build(t.Context()); !errors.Is(err, objectstore.ErrInvalidOption) {
			t.Errorf("another remote: %v", err)
		}
	})
}

func TestUnfinishedIndexOfAKilledProcessIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		e.close()
		e.disk.WriteFile(dir+"/INDEX.tmp", []byte("half"))
		e.open()
		defer e.close()
		if _, err := e.disk.ReadFile(dir + "/INDEX.tmp"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("INDEX.tmp: %v", err)
		}
	})
}

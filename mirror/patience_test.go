package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// silentBody gives a few bytes and then nothing until its GET is given up.
type silentBody struct {
	inner io.ReadCloser
	ended <-chan struct{}
	left  int
	empty bool // reads return nothing at once, and never look at the context
}

func (b *silentBody) Read(p []byte) (int, error) {
	switch {
	case b.left == 0 && b.empty:
		return 0, nil
	case b.left == 0:
		<-b.ended
		return 0, context.Canceled
	}
	n, err := b.inner.Read(p[:min(b.left, len(p))])
	b.left -= n
	return n, err
}

func (b *silentBody) Close() error { return b.inner.Close() }

func TestAStalledConnectionIsGivenUpAndTheCallRepeated(t *testing.T) {
	for _, what := range []string{"no answer", "silence in the body"} {
		bubble(t, func(e *env) {
			e.store("a/x", "0123456789")
			calls := 0
			ended := make(chan struct{})
			e.remote.setHook(func(ctx context.Context, _ call) error {
				if calls++; calls > 1 {
					return nil
				}
				context.AfterFunc(ctx, func() { close(ended) })
				if what == "no answer" {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			})
			e.remote.body = func(_ call, result *objectstore.GetResult) {
				if calls == 1 {
					result.Body = &silentBody{inner: result.Body, ended: ended, left: 4}
				}
			}
			start := time.Now()
			e.fetch("a/x")
			e.wantLocal("a/x", "0123456789")
			if took := time.Since(start); took < 30*time.Second || took > 35*time.Second {
				t.Errorf("%s: the fetch took %v", what, took)
			}
			if retries := e.h.Stats().DownloadRetries; retries != 1 {
				t.Errorf("%s: %d retries", what, retries)
			}
		})
	}
}

func TestASlowDownloadThatMovesIsNotGivenUp(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "0123456789")
		var get context.Context
		e.remote.setHook(func(ctx context.Context, _ call) error { get = ctx; return nil })
		e.remote.body = func(_ call, result *objectstore.GetResult) { result.Body = slowBody{result.Body, get} }
		e.fetch("a/x")
		if retries := e.h.Stats().DownloadRetries; retries != 0 {
			t.Errorf("%d retries", retries)
		}
	})
}

// slowBody takes its time for every byte.
type slowBody struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // that of the GET
}

func (b slowBody) Read(p []byte) (int, error) {
	if err := (mirror.SystemClock{}).Sleep(b.ctx, 29*time.Second); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p[:1])
}

func TestScanRepeatsAListThatFailedForAPassingReason(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.put("a/y", "bytes")
		e.unstore("a/x")
		failures := 3
		e.remote.setHook(func(_ context.Context, c call) error {
			if c.op == "list" && failures > 0 {
				failures--
				return objectstore.Transient(errSlow, 0)
			}
			return nil
		})
		result, err := e.m.Scan(e.Context())
		if err != nil || result.Removed != 1 || result.Failed != 0 {
			t.Errorf("scan: %+v, %v", result, err)
		}
		e.wantAbsent("a/x")
		e.wantLocal("a/y", "bytes")
	})
}

func TestScanListsOnlyWhatLiesAroundLocalCopies(t *testing.T) {
	bubble(t, func(e *env) {
		for i := range 10_000 {
			e.store(objectstore.Path(fmt.Sprintf("a/%05d", i)), "x")
		}
		e.fetch("a/03000", "a/03001", "a/07000")
		e.unstore("a/03001")
		listed := 0
		e.remote.listed = func() { listed++ }
		result, err := e.m.Scan(e.Context())
		if err != nil || result.Local != 3 || result.Removed != 1 || !e.h.Contains("a/03000") || !e.h.Contains("a/07000") {
			t.Errorf("scan: %+v, %v", result, err)
		}
		if listed > 1100 {
			t.Errorf("the scan listed %d objects", listed)
		}
	})
}

func TestStartupKeepsWhatItCannotRead(t *testing.T) {
	for _, op := range []vfs.Op{vfs.OpOpen, vfs.OpRead} {
		for _, cause := range []error{syscall.EIO, syscall.ENOMEM, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EMFILE} {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, nil)
				e.open()
				e.put("a/x", "bytes")
				e.put("a/y", "bytes")
				e.close()
				if err := e.disk.Remove(dir + "/INDEX"); err != nil {
					t.Fatal(err)
				}
				files := fmt.Sprint(e.files())
				e.failOn(op, ".x.obj.meta", cause)
				e.open()
				if s := e.h.Stats().Startup; s.Unreadable != 1 || s.Invalid != 0 || s.Recovered != 1 {
					t.Errorf("%s %v: startup %+v", op, cause, s)
				}
				if got := fmt.Sprint(e.files()); got != files {
					t.Errorf("%s %v: the files are %s, were %s", op, cause, got, files)
				}
				e.onDisk(nil)
				e.reopen()
				e.wantLocal("a/x", "bytes")
				e.close()
			})
		}
	}
}

func TestAnOpenThatIsGivenUpRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		e.put("a/x", "bytes")
		e.close()
		if err := e.disk.Remove(dir + "/INDEX"); err != nil {
			t.Fatal(err)
		}
		e.failOn(vfs.OpOpen, ".obj.meta", syscall.EMFILE)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := e.build(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("open: %v", err)
		}
		if files := e.files(); len(files) != 2 {
			t.Errorf("files: %v", files)
		}
	})
}

func TestWarmGoesOnPastWhatItCannotHave(t *testing.T) {
	bubble(t, func(e *env) {
		for i := range 600 {
			e.store(objectstore.Path(fmt.Sprintf("a/%03d", i)), "x")
		}
		lists := 0
		e.remote.setHook(func(_ context.Context, c call) error {
			switch {
			case c.op == "list":
				if lists++; lists == 1 {
					return objectstore.Transient(errSlow, 0)
				}
			case strings.HasSuffix(string(c.path), "00"):
				return objectstore.ErrPermissionDenied
			}
			return nil
		})
		err := mirror.Warm(e.Context(), e.h, "a/")
		var failed *mirror.WarmError
		if !errors.As(err, &failed) || failed.Failed != 6 || !errors.Is(err, objectstore.ErrPermissionDenied) {
			t.Errorf("warm: %v", err)
		}
		if n := e.h.Stats().Objects; n != 594 {
			t.Errorf("%d objects are local", n)
		}
	})
}

func TestCloseEndsADownloadWhoseBodyIgnoresItsContext(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "0123456789")
		begun := make(chan struct{})
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			result.Body = &silentBody{inner: result.Body, empty: true}
			close(begun)
		}
		e.h.Prefetch("a/x")
		<-begun
		if err := e.m.Close(); err != nil {
			t.Error(err)
		}
		e.remote.body = nil
		e.open()
	})
}

package mirror_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func TestCloseStopsDownloadsAndEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, func(o *mirror.Options) { o.DownloadConcurrency = 1 })
		e.open()
		e.store("a/x", "bytes")
		e.store("a/y", "bytes")
		e.gateOn("get", "a/x")
		running, queued := e.h.Fetch("a/x"), e.h.Fetch("a/y")
		e.h.Prefetch("a/z")
		e.h.Evict("a/x")
		e.policy.routeReads(mirror.ReadRefetch)
		read := background(func() error { _, err := e.read("a/x", nil); return err })
		synctest.Wait()
		e.close()
		for i, err := range []error{running.Wait(t.Context()), queued.Wait(t.Context()), <-read} {
			if !errors.Is(err, objectstore.ErrClosed) {
				t.Errorf("%d: %v", i, err)
			}
		}
		e.wantNoTemps()
		if s := e.h.Stats(); s.BusyPaths != 0 || s.QueuedDownloads != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestCloseWaitsForWritesInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		open := e.gateOn("put", "a/x")
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		})
		synctest.Wait()
		closed := background(e.m.Close)
		if !pending(closed) {
			t.Fatal("Close did not wait for the write")
		}
		open(nil)
		if err := errors.Join(<-write, <-closed); err != nil {
			t.Fatal(err)
		}
		e.open()
		e.wantLocal("a/x", "bytes")
		e.close()
	})
}

func TestCallsAfterCloseAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		e.put("a/x", "bytes")
		upload, err := e.m.PutMultipart(e.Context(), "a/y", nil)
		if err != nil {
			t.Fatal(err)
		}
		e.close()
		if err := e.m.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		ctx := e.Context()
		calls := len(e.remote.calls)
		errs := map[string]error{
			"delete": e.m.Delete(ctx, "a/x"),
			"fetch":  e.h.Fetch("a/x").Wait(ctx),
			"part":   upload.PutPart(ctx, 1, objectstore.Bytes(nil)),
			"abort":  upload.Abort(ctx),
		}
		_, errs["get"] = e.m.Get(ctx, "a/x", nil)
		_, errs["put"] = e.m.Put(ctx, "a/x", objectstore.Bytes(nil), nil)
		_, errs["multipart"] = e.m.PutMultipart(ctx, "a/x", nil)
		_, errs["create"] = e.m.CreateMultipart(ctx, "a/x", nil)
		_, errs["upload part"] = e.m.UploadPart(ctx, "a/x", "id", 1, objectstore.Bytes(nil))
		_, errs["complete"] = upload.Complete(ctx)
		_, errs["complete id"] = e.m.CompleteMultipart(ctx, "a/x", "id", nil, nil)
		errs["abort id"] = e.m.AbortMultipart(ctx, "a/x", "id")
		_, errs["scan"] = e.m.Scan(ctx)
		_, errs["tags"] = e.m.Tags(ctx, "a/x")
		_, errs["list level"] = e.m.ListWithDelimiter(ctx, nil)
		for _, err := range e.m.List(ctx, nil) {
			errs["list"] = err
		}
		for _, err := range e.m.ListParts(ctx, "a/x", "id") {
			errs["list parts"] = err
		}
		for _, err := range e.m.ListMultiparts(ctx, "") {
			errs["list multiparts"] = err
		}
		for _, err := range e.m.DeleteAll(ctx, slices.Values([]objectstore.Path{"a/x"})) {
			errs["delete all"] = err
		}
		for op, err := range errs {
			if !errors.Is(err, objectstore.ErrClosed) {
				t.Errorf("%s: %v", op, err)
			}
		}
		if len(errs) != 19 {
			t.Errorf("%d calls answered", len(errs))
		}
		e.h.Prefetch("a/x")
		e.h.Evict("a/x")
		if len(e.remote.calls) != calls {
			t.Errorf("calls reached the remote: %v", e.remote.calls[calls:])
		}
		if len(e.files()) != 2 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestCloseReleasesTheLockEvenWhenTheIndexCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		e.put("a/x", "bytes")
		e.failOn(vfs.OpCreate, "INDEX", errors.New("boom"))
		var failure *mirror.Local
		if err := e.m.Close(); !errors.As(err, &failure) {
			t.Errorf("Close: %v", err)
		}
		e.onDisk(nil)
		e.open()
		e.wantLocal("a/x", "bytes")
		e.close()
	})
}

func TestAPolicyMayCallTheMirrorWhileItCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.policy.routePuts(mirror.WriteObserve)
		gate := make(chan struct{})
		e.policy.observe = func(ctx context.Context, _ objectstore.Path, _ []byte, h mirror.Handle) error {
			<-gate
			if err := h.Fetch("a/x").Wait(ctx); !errors.Is(err, objectstore.ErrClosed) {
				t.Errorf("fetch: %v", err)
			}
			return e.m.Delete(ctx, "a/x")
		}
		e.open()
		write := background(func() error {
			_, err := e.m.Put(e.Context(), "m/1", objectstore.Bytes(nil), nil)
			return err
		})
		synctest.Wait()
		closed := background(e.m.Close)
		synctest.Wait()
		close(gate)
		if err := <-write; !errors.Is(err, objectstore.ErrClosed) || !isCommitted(err) {
			t.Errorf("put: %v", err)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

func TestUploadsThatNobodyEndsAreCleanedUpByClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("bytes"))); err != nil {
				t.Fatal(err)
			}
		}
		e.close()
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

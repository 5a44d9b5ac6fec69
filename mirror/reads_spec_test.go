package mirror_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func TestRemoteRouteReadsTheWrappedStoreOnly(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "remote")
		e.policy.routeReads(mirror.ReadRemote)
		got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.Bounded(1, 4)})
		if err != nil || got != "emo" {
			t.Fatalf("read %q, %v", got, err)
		}
		e.wantAbsent("a/x")
		e.policy.routeReads(mirror.ReadRemote)
		if _, err := e.read("a/missing", nil); !errors.Is(err, objectstore.ErrNotFound) || objectstore.IsNonRetryable(err) {
			t.Errorf("the remote's error came changed: %v", err)
		}
	})
}

func TestPoliciesGetOptionsThatAreNotNil(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.read = func(_ objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
			if options == nil {
				t.Error("nil GetOptions")
			}
			return mirror.ReadRemote, nil
		}
		e.policy.put = func(_ objectstore.Path, options *objectstore.PutOptions) (mirror.WriteRoute, error) {
			if options == nil {
				t.Error("nil PutOptions")
			}
			return mirror.WriteRemote, nil
		}
		e.policy.multipart = func(_ objectstore.Path, options *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
			if options == nil {
				t.Error("nil MultipartOptions")
			}
			return mirror.MultipartRemote, nil
		}
		e.put("a/x", "1")
		if _, err := e.read("a/x", nil); err != nil {
			t.Error(err)
		}
		upload, err := e.m.PutMultipart(e.Context(), "a/y", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.Abort(e.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestHeadAsksTheRouteWithHeadSet(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		var heads []bool
		e.policy.read = func(_ objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
			heads = append(heads, options.Head)
			return mirror.ReadLocal, nil
		}
		for _, head := range []bool{true, false} {
			result, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: head})
			if err != nil {
				t.Fatal(err)
			}
			if (result.Body == nil) != head {
				t.Errorf("head %v: body %v", head, result.Body)
			}
			if result.Body != nil {
				_ = result.Body.Close()
			}
		}
		if len(heads) != 2 || !heads[0] || heads[1] {
			t.Errorf("the policy saw head %v", heads)
		}
	})
}

func TestLocalRouteReadsTheLocalCopyOnly(t *testing.T) {
	bubble(t, func(e *env) {
		data := big(3*64<<10 + 17)
		e.store("a/x", data)
		e.fetch("a/x")
		e.unstore("a/x")
		e.remote.setHook(func(context.Context, call) error { return errors.New("the remote was asked") })
		for _, r := range []*objectstore.Range{
			nil, objectstore.Bounded(0, 1), objectstore.Bounded(5, 1<<40), objectstore.From(70000), objectstore.Suffix(9),
			objectstore.Bounded(65535, 65537), objectstore.Suffix(1 << 40),
		} {
			start, end, err := r.Resolve(int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.read("a/x", &objectstore.GetOptions{Range: r})
			if err != nil || got != data[start:end] {
				t.Errorf("%v: %d bytes, %v", r, len(got), err)
			}
		}
		if s := e.h.Stats(); s.Hits != 7 || s.NotLocal != 0 {
			t.Errorf("stats: %+v", s.Counters)
		}
	})
}

func TestLocalMissIsNotLocalWithoutRemoteFallback(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		for _, head := range []bool{false, true} {
			_, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: head})
			var miss *mirror.NotLocal
			if !errors.As(err, &miss) || miss.Path != "a/x" {
				t.Fatalf("head %v: %v", head, err)
			}
			if errors.Is(err, objectstore.ErrNotFound) {
				t.Error("NotLocal passes for ErrNotFound")
			}
		}
		if n := len(e.remote.calls); n != 0 {
			t.Errorf("%d calls reached the remote", n)
		}
		if s := e.h.Stats(); s.NotLocal != 2 {
			t.Errorf("counted %d misses", s.NotLocal)
		}
	})
}

func TestConditionsAndBadRangesOfLocalReads(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "0123456789")
		e.fetch("a/x")
		head, err := objectstore.Head(e.Context(), e.remote, "a/x")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			options objectstore.GetOptions
			want    error
		}{
			{"if-match holds", objectstore.GetOptions{IfMatch: head.ETag}, nil},
			{"if-match fails", objectstore.GetOptions{IfMatch: "other"}, objectstore.ErrPrecondition},
			{"if-none-match of this", objectstore.GetOptions{IfNoneMatch: head.ETag}, objectstore.ErrNotModified},
			{"if-none-match of another", objectstore.GetOptions{IfNoneMatch: "other"}, nil},
			{"modified since before", objectstore.GetOptions{IfModifiedSince: head.LastModified.Add(-time.Hour)}, nil},
			{"modified since now", objectstore.GetOptions{IfModifiedSince: head.LastModified}, objectstore.ErrNotModified},
			{"unmodified since before", objectstore.GetOptions{IfUnmodifiedSince: head.LastModified.Add(-time.Hour)}, objectstore.ErrPrecondition},
			{"range beyond the end", objectstore.GetOptions{Range: objectstore.From(10)}, objectstore.ErrInvalidRange},
			{"empty range", objectstore.GetOptions{Range: objectstore.Bounded(3, 3)}, objectstore.ErrInvalidRange},
			{"negative range", objectstore.GetOptions{Range: objectstore.Bounded(-1, 3)}, objectstore.ErrInvalidRange},
			{"head with condition", objectstore.GetOptions{Head: true, IfMatch: "other"}, objectstore.ErrPrecondition},
		} {
			if _, err := e.read("a/x", &c.options); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
		}
		if _, err := e.read("a/x", &objectstore.GetOptions{Version: "v2"}); !isNotLocal(err) {
			t.Errorf("another version: %v", err)
		}
		if s := e.h.Stats(); s.OpenFiles > 1 {
			t.Errorf("%d files are open", s.OpenFiles)
		}
	})
}

func isNotLocal(err error) bool {
	var miss *mirror.NotLocal
	return errors.As(err, &miss)
}

func TestMetadataIsAccurateAndSurvivesARestart(t *testing.T) {
	bubble(t, func(e *env) {
		attributes := objectstore.Attributes{
			ContentType: "text/plain", CacheControl: "max-age=1", ContentEncoding: "gzip", ContentLanguage: "de",
			ContentDisposition: "inline", Metadata: map[string]string{"owner": "é", "latin1": "\xe9"},
		}
		put, err := e.remote.Store.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), &objectstore.PutOptions{Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.remote.Store.Get(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		e.fetch("a/x")
		check := func(when string) {
			t.Helper()
			result, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true})
			if err != nil {
				t.Fatal(err)
			}
			if result.Meta.ETag != put.ETag || result.Meta.Size != 5 || result.Meta.Path != "a/x" || !result.Meta.LastModified.Equal(want.Meta.LastModified) {
				t.Errorf("%s: %+v, want %+v", when, result.Meta, want.Meta)
			}
			a := result.Attributes
			if a.ContentType != "text/plain" || a.CacheControl != "max-age=1" || a.ContentEncoding != "gzip" || a.ContentLanguage != "de" ||
				a.ContentDisposition != "inline" || a.Metadata["owner"] != "é" || a.Metadata["latin1"] != "\xe9" || len(a.Metadata) != 2 {
				t.Errorf("%s: attributes %+v", when, a)
			}
			a.Metadata["owner"] = "changed by the caller"
		}
		check("after the fetch")
		check("after a caller changed what it got")
		e.reopen()
		check("after a restart with the index")
		if s := e.h.Stats().Startup; s.FromIndex != 1 {
			t.Errorf("startup: %+v", s)
		}
		e.close()
		if err := e.disk.Remove(dir + "/INDEX"); err != nil {
			t.Fatal(err)
		}
		e.open()
		check("after a restart without it")
		if s := e.h.Stats().Startup; s.FromIndex != 0 || s.Recovered != 1 {
			t.Errorf("startup: %+v", s)
		}
	})
}

func TestMetadataOfLocalObjectsComesFromMemory(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		e.onDisk(func(op vfs.Op, name string) error {
			t.Errorf("HEAD did %s of %s", op, name)
			return nil
		})
		if _, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true}); err != nil {
			t.Error(err)
		}
		e.onDisk(nil)
	})
}

func TestRefetchOverwritesTheLocalCopyAndReturnsTheRange(t *testing.T) {
	bubble(t, func(e *env) {
		data := big(200_000)
		e.store("a/x", data)
		e.fetch("a/x")
		e.damage(".obj", 100_000)
		if got, err := e.read("a/x", nil); err != nil || got == data {
			t.Fatalf("the damage is not there: %v", err)
		}
		if got, err := e.read("a/x", nil); err != nil || got == data {
			t.Fatalf("a repeated Local read repaired the copy: %v", err)
		}
		e.policy.routeReads(mirror.ReadRefetch)
		got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.Bounded(99_990, 100_010)})
		if err != nil || got != data[99_990:100_010] {
			t.Fatalf("refetch: %q, %v", got, err)
		}
		if c := e.remote.calls[len(e.remote.calls)-1]; c.options.Range != nil {
			t.Errorf("refetch asked the remote for %v, not the whole object", c.options.Range)
		}
		e.wantLocal("a/x", data)
		if s := e.h.Stats(); s.Refetches != 1 || s.Objects != 1 || s.Bytes != int64(len(data)) || s.OpenFiles != 1 {
			t.Errorf("stats: %+v", s)
		}
		if used := e.disk.Used(); used > int64(len(data))+1000 {
			t.Errorf("%d bytes in use: the replaced copy is kept open", used)
		}
	})
}

func TestRefetchAppliesToHEADTheSameWay(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.policy.routeReads(mirror.ReadRefetch)
		for i := range 2 {
			result, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true})
			if err != nil || result.Body != nil || result.Meta.Size != 5 {
				t.Fatalf("HEAD: %+v, %v", result, err)
			}
			if n := e.remote.count("get", "a/x"); n != i+1 {
				t.Errorf("%d GETs", n)
			}
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestRefetchOfAMissingObjectIsNotFound(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.routeReads(mirror.ReadRefetch)
		if _, err := e.read("a/x", nil); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("refetch: %v", err)
		}
		e.wantNoTemps()
	})
}

func TestRefetchWhoseCallerGivesUp(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.policy.routeReads(mirror.ReadRefetch)
		e.gateOn("get", "a/x")
		ctx, cancel := context.WithCancel(e.Context())
		done := background(func() error { _, err := e.m.Get(ctx, "a/x", nil); return err })
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Get: %v", err)
		}
		synctest.Wait()
		if s := e.h.Stats(); s.BusyPaths != 0 || len(s.Downloads) != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestObserveSeesTheWholeObjectBeforeTheCaller(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("m/1", "0123456789")
		e.policy.routeReads(mirror.ReadObserve)
		var seen []string
		gate := make(chan struct{})
		e.policy.observe = func(_ context.Context, path objectstore.Path, data []byte, _ mirror.Handle) error {
			seen = append(seen, string(path)+"="+string(data))
			<-gate
			return nil
		}
		done := background(func() error {
			got, err := e.read("m/1", &objectstore.GetOptions{Range: objectstore.Bounded(2, 5)})
			if err == nil && got != "234" {
				err = errors.New("read " + got)
			}
			return err
		})
		if !pending(done) {
			t.Fatal("the caller got its result before Observe returned")
		}
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1 || seen[0] != "m/1=0123456789" {
			t.Errorf("observed %q", seen)
		}
		if c := e.remote.calls[0]; c.options.Range != nil {
			t.Errorf("asked the remote for %v", c.options.Range)
		}
		e.wantAbsent("m/1")
	})
}

func TestObserveOfHEADNotModifiedAndMissingIsNotCalled(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("m/1", "0123456789")
		head, err := objectstore.Head(e.Context(), e.remote, "m/1")
		if err != nil {
			t.Fatal(err)
		}
		e.policy.routeReads(mirror.ReadObserve)
		e.policy.observe = func(context.Context, objectstore.Path, []byte, mirror.Handle) error {
			t.Error("Observe was called")
			return nil
		}
		if result, err := e.m.Get(e.Context(), "m/1", &objectstore.GetOptions{Head: true}); err != nil || result.Meta.Size != 10 {
			t.Errorf("HEAD: %+v, %v", result, err)
		}
		if _, err := e.read("m/1", &objectstore.GetOptions{IfNoneMatch: head.ETag}); !errors.Is(err, objectstore.ErrNotModified) {
			t.Errorf("conditional GET: %v", err)
		}
		if _, err := e.read("m/2", nil); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("missing: %v", err)
		}
	})
}

func TestObserveOfACutBodyFailsAndIsNotCalled(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("m/1", "0123456789")
		e.policy.routeReads(mirror.ReadObserve)
		e.policy.observe = func(context.Context, objectstore.Path, []byte, mirror.Handle) error {
			t.Error("Observe was called with a cut object")
			return nil
		}
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			result.Body = io.NopCloser(io.LimitReader(result.Body, 4))
		}
		if _, err := e.read("m/1", nil); !errors.Is(err, io.ErrUnexpectedEOF) || !objectstore.IsTransient(err) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestObserveErrorOfAReadGoesToTheCallerAndMayBeRetried(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("m/1", "bytes")
		e.policy.routeReads(mirror.ReadObserve)
		boom := errors.New("boom")
		calls := 0
		e.policy.observe = func(context.Context, objectstore.Path, []byte, mirror.Handle) error {
			if calls++; calls == 1 {
				return boom
			}
			return nil
		}
		_, err := e.read("m/1", nil)
		var refused *mirror.PolicyError
		if !errors.As(err, &refused) || !errors.Is(err, boom) || !objectstore.IsNonRetryable(err) {
			t.Fatalf("read: %v", err)
		}
		if got, err := e.read("m/1", nil); err != nil || got != "bytes" || calls != 2 {
			t.Errorf("second read: %q, %v after %d calls", got, err, calls)
		}
	})
}

func TestReadThroughDownloadsOnceAndThenReadsLocally(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "0123456789")
		e.policy.routeReads(mirror.ReadThrough)
		for range 3 {
			got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.Suffix(3)})
			if err != nil || got != "789" {
				t.Fatalf("read %q, %v", got, err)
			}
		}
		if n := e.remote.count("get", "a/x"); n != 1 {
			t.Errorf("%d GETs", n)
		}
		if s := e.h.Stats(); s.ReadThroughs != 1 || s.Hits != 2 {
			t.Errorf("stats: %+v", s.Counters)
		}
		if _, err := e.read("a/missing", nil); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("missing: %v", err)
		}
		e.store("a/y", "bytes")
		if result, err := e.m.Get(e.Context(), "a/y", &objectstore.GetOptions{Head: true}); err != nil || result.Meta.Size != 5 || e.h.Contains("a/y") {
			t.Errorf("HEAD of what isn't local: %+v, %v", result, err)
		}
	})
}

func TestGetRemoteSkipsPolicyAndCopyAndRetries(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.policy.read = func(objectstore.Path, *objectstore.GetOptions) (mirror.ReadRoute, error) {
			t.Error("the policy was asked")
			return mirror.ReadRemote, nil
		}
		failures := 3
		e.remote.setHook(func(context.Context, call) error {
			if failures--; failures >= 0 {
				return objectstore.Transient(errors.New("slow down"), time.Second)
			}
			return nil
		})
		data, err := e.h.GetRemote(e.Context(), "a/x")
		if err != nil || string(data) != "bytes" {
			t.Fatalf("GetRemote: %q, %v", data, err)
		}
		if e.h.Contains("a/x") || len(e.files()) != 0 {
			t.Error("GetRemote made a local copy")
		}
		if _, err := e.h.GetRemote(e.Context(), "a/missing"); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("missing: %v", err)
		}
		if e.h.Remote() != objectstore.Store(e.remote) {
			t.Error("Remote is not the wrapped store")
		}
	})
}

func TestLocalBodyReadsSeeksAndCopies(t *testing.T) {
	for name, verify := range map[string]bool{"plain": false, "verified": true} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.Verify = verify }, func(e *env) {
				data := big(300_000)
				e.store("a/x", data)
				e.fetch("a/x")
				result, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Range: objectstore.Bounded(1000, 250_000)})
				if err != nil {
					t.Fatal(err)
				}
				want := data[1000:250_000]
				at := make([]byte, 70_000)
				if n, err := result.Body.(io.ReaderAt).ReadAt(at, 60_000); n != len(at) || err != nil || string(at) != want[60_000:130_000] {
					t.Errorf("ReadAt: %d, %v", n, err)
				}
				if n, err := result.Body.(io.ReaderAt).ReadAt(at, int64(len(want))-5); n != 5 || !errors.Is(err, io.EOF) {
					t.Errorf("ReadAt at the end: %d, %v", n, err)
				}
				if _, err := result.Body.(io.Seeker).Seek(-10, io.SeekEnd); err != nil {
					t.Fatal(err)
				}
				if tail, err := io.ReadAll(result.Body); err != nil || string(tail) != want[len(want)-10:] {
					t.Errorf("tail %q, %v", tail, err)
				}
				if _, err := result.Body.(io.Seeker).Seek(0, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				var all strings.Builder
				if n, err := io.Copy(&all, result.Body); n != int64(len(want)) || err != nil || all.String() != want {
					t.Errorf("copied %d, %v", n, err)
				}
				if _, err := result.Body.(io.Seeker).Seek(-1, io.SeekStart); err == nil {
					t.Error("seek before the start")
				}
				if err := errors.Join(result.Body.Close(), result.Body.Close()); err != nil {
					t.Errorf("Close: %v", err)
				}
				if _, err := result.Body.Read(at); err == nil {
					t.Error("read after Close")
				}
			})
		})
	}
}

func TestEmptyObject(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.Verify = true }, func(e *env) {
		e.store("a/empty", "")
		e.fetch("a/empty")
		e.put("a/written", "")
		e.reopen()
		e.wantLocal("a/empty", "")
		e.wantLocal("a/written", "")
		if _, err := e.read("a/empty", &objectstore.GetOptions{Range: objectstore.From(0)}); !errors.Is(err, objectstore.ErrInvalidRange) {
			t.Errorf("range of an empty object: %v", err)
		}
	})
}

func TestCachedFileDeletedBehindOurBackIsNotLocalAndFetchedAgain(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.fetch("a/x")
		if err := e.disk.Remove(e.file(".obj")); err != nil {
			t.Fatal(err)
		}
		e.wantAbsent("a/x")
		if s := e.h.Stats(); s.Objects != 0 || s.StaleEntriesDropped != 1 {
			t.Errorf("stats: %+v", s)
		}
		e.fetch("a/x")
		e.wantLocal("a/x", "bytes")
	})
}

func TestFileCutBehindOurBackIsAnErrorNotAShortBody(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", big(100_000))
		e.fetch("a/x")
		e.disk.WriteFile(e.file(".obj"), []byte(big(50_000)))
		_, err := e.read("a/x", nil)
		var failure *mirror.Local
		if !errors.As(err, &failure) || failure.Path != "a/x" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestDeletedWhileBeingRead(t *testing.T) {
	for _, verify := range []bool{false, true} {
		testDeletedWhileBeingRead(t, verify)
	}
}

func testDeletedWhileBeingRead(t *testing.T, verify bool) {
	t.Helper()
	bubbleWith(t, func(o *mirror.Options) { o.Verify = verify }, func(e *env) {
		data := big(100_000)
		e.put("a/x", data)
		result, err := e.m.Get(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		idle, err := e.m.Get(e.Context(), "a/x", nil) // its handle goes to the pool
		if err != nil {
			t.Fatal(err)
		}
		if err := idle.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err := e.m.Delete(e.Context(), "a/x"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(result.Body); err != nil || string(got) != data {
			t.Errorf("the reader got %d bytes, %v", len(got), err)
		}
		if e.disk.Used() < int64(len(data)) {
			t.Errorf("only %d bytes in use while a reader holds the file", e.disk.Used())
		}
		if err := result.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if used := e.disk.Used(); used > 1000 {
			t.Errorf("%d bytes still in use after the close", used)
		}
		if s := e.h.Stats(); s.OpenFiles != 0 {
			t.Errorf("%d files are open", s.OpenFiles)
		}
	})
}

func TestOpenBodiesOutliveTheMirror(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.open()
		e.put("a/x", "bytes")
		result, err := e.m.Get(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		e.close()
		if got, err := io.ReadAll(result.Body); err != nil || string(got) != "bytes" {
			t.Errorf("read %q, %v", got, err)
		}
		if err := result.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// bodies are the three kinds of Body.
func bodies(data string) map[string]objectstore.Body {
	return map[string]objectstore.Body{
		"bytes":     objectstore.Bytes([]byte(data)),
		"reader at": objectstore.ReaderAt(strings.NewReader(data), int64(len(data))),
		"stream":    objectstore.Stream(strings.NewReader(data), int64(len(data))),
	}
}

func TestRemoteRouteWritesTheWrappedStoreOnly(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.routePuts(mirror.WriteRemote)
		e.put("a/x", "bytes")
		if got := e.remoteData("a/x"); got != "bytes" || len(e.files()) != 0 {
			t.Errorf("remote %q, files %v", got, e.files())
		}
	})
}

func TestMirrorWriteIsInBothPlacesWhenItReturns(t *testing.T) {
	data := big(500_000)
	for name, body := range bodies(data) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				attributes := objectstore.Attributes{ContentType: "x/y", Metadata: map[string]string{"k": "v"}}
				result, err := e.m.Put(e.Context(), "a/x", body, &objectstore.PutOptions{Attributes: attributes})
				if err != nil {
					t.Fatal(err)
				}
				if e.remoteData("a/x") != data {
					t.Error("the remote has other bytes")
				}
				e.unstore("a/x")
				e.wantLocal("a/x", data)
				head, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true})
				if err != nil || head.Meta.ETag != result.ETag || head.Attributes.ContentType != "x/y" || head.Attributes.Metadata["k"] != "v" {
					t.Errorf("metadata: %+v, %v", head, err)
				}
				if len(e.files()) != 2 {
					t.Errorf("files: %v", e.files())
				}
			})
		})
	}
}

func TestMirrorWriteIsNotLocalBeforeTheUploadSucceeds(t *testing.T) {
	bubble(t, func(e *env) {
		open := e.gateOn("put", "a/x")
		done := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
			return err
		})
		synctest.Wait()
		if files := e.files(); len(files) != 1 || !strings.Contains(files[0], ".x.obj.") {
			t.Errorf("while uploading: %v", files)
		}
		e.wantAbsent("a/x")
		open(nil)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "bytes")
	})
}

func TestRemoteFailureOfAWriteRemovesTheTemporaryFile(t *testing.T) {
	for name, body := range bodies(big(400_000)) {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				boom := errors.New("boom")
				e.remote.setHook(func(_ context.Context, c call) error { return boom })
				_, err := e.m.Put(e.Context(), "a/x", body, nil)
				if !errors.Is(err, boom) || objectstore.IsNonRetryable(err) {
					t.Errorf("the remote's error came as %v", err)
				}
				e.remote.setHook(nil)
				if len(e.files()) != 0 {
					t.Errorf("files: %v", e.files())
				}
				e.wantAbsent("a/x")
			})
		})
	}
}

func TestConditionsOfWritesPassThroughUnchanged(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "old")
		e.fetch("a/x")
		for _, route := range []mirror.WriteRoute{mirror.WriteRemote, mirror.WriteObserve, mirror.WriteMirror} {
			e.policy.routePuts(route)
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("new")), &objectstore.PutOptions{Mode: objectstore.Create})
			if !errors.Is(err, objectstore.ErrAlreadyExists) {
				t.Errorf("%v: create over an object: %v", route, err)
			}
			_, err = e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("new")), &objectstore.PutOptions{
				Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: "other"},
			})
			if !errors.Is(err, objectstore.ErrPrecondition) {
				t.Errorf("%v: update of another version: %v", route, err)
			}
		}
		e.wantLocal("a/x", "old")
		e.wantNoTemps()
	})
}

func TestLocalFailureOfAPutIsWriteCommitted(t *testing.T) {
	boom := errors.New("boom")
	for name, fault := range map[string]struct {
		op   vfs.Op
		part string
	}{
		"create of the object": {vfs.OpCreate, ".x.obj."},
		"write of the object":  {vfs.OpWrite, ".x.obj."},
		"finish":               {vfs.OpFinish, ".x.obj."},
		"create of the meta":   {vfs.OpCreate, ".obj.meta."},
		"write of the meta":    {vfs.OpWrite, ".obj.meta."},
		"finish of the meta":   {vfs.OpFinish, ".obj.meta."},
		"rename of the meta":   {vfs.OpRename, ".obj.meta"},
		"rename of the object": {vfs.OpRename, ".x.obj"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.failOn(fault.op, fault.part, boom)
				_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("bytes")), nil)
				var committed *mirror.WriteCommitted
				if !errors.As(err, &committed) || committed.Path != "a/x" || !errors.Is(err, boom) || !objectstore.IsNonRetryable(err) {
					t.Fatalf("put: %v", err)
				}
				e.onDisk(nil)
				if got := e.remoteData("a/x"); got != "bytes" {
					t.Errorf("the remote has %q", got)
				}
				e.wantAbsent("a/x")
				if len(e.files()) != 0 {
					t.Errorf("files: %v", e.files())
				}
				e.fetch("a/x")
				e.wantLocal("a/x", "bytes")
				if s := e.h.Stats(); s.WriteCommitted != 1 || s.BusyPaths != 0 {
					t.Errorf("stats: %+v", s)
				}
			})
		})
	}
}

func TestWriteCommittedDropsAnOlderLocalCopy(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "old")
		e.failOn(vfs.OpWrite, ".x.obj.", errors.New("boom"))
		if _, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("new")), nil); err == nil {
			t.Fatal("put succeeded")
		}
		e.onDisk(nil)
		e.wantAbsent("a/x")
		e.wantNoTemps()
	})
}

func TestAPathThatIsNotValidReachesNoRemote(t *testing.T) {
	bubble(t, func(e *env) {
		defer func() {
			if n := e.remote.count("put", ""); n != 0 {
				t.Errorf("%d PUTs reached the remote", n)
			}
		}()
		for _, path := range []objectstore.Path{"", "a\x00b", objectstore.Path(strings.Repeat("x", 2000)), "\xff"} {
			if _, err := e.m.Put(e.Context(), path, objectstore.Bytes(nil), nil); !errors.Is(err, objectstore.ErrInvalidPath) {
				t.Errorf("put of %.10q: %v", path, err)
			}
			if err := e.h.Fetch(path).Wait(e.Context()); !errors.Is(err, objectstore.ErrInvalidPath) {
				t.Errorf("fetch of %.10q: %v", path, err)
			}
		}
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestObserveOfAWriteSeesThePayloadAfterTheRemoteHasIt(t *testing.T) {
	for name, body := range bodies("payload") {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.policy.routePuts(mirror.WriteObserve)
				e.policy.observe = func(_ context.Context, path objectstore.Path, data []byte, _ mirror.Handle) error {
					if path != "m/1" || string(data) != "payload" || e.remoteData("m/1") != "payload" {
						t.Errorf("observed %q of %q", data, path)
					}
					return nil
				}
				if _, err := e.m.Put(e.Context(), "m/1", body, nil); err != nil {
					t.Fatal(err)
				}
				if s := e.h.Stats(); s.Observed != 1 || len(e.files()) != 0 {
					t.Errorf("stats %+v, files %v", s.Counters, e.files())
				}
			})
		})
	}
}

func TestObserveIsNotCalledForAWriteThatFailed(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("m/1", "old")
		e.policy.routePuts(mirror.WriteObserve)
		e.policy.observe = func(context.Context, objectstore.Path, []byte, mirror.Handle) error {
			t.Error("Observe was called")
			return nil
		}
		if _, err := e.m.Put(e.Context(), "m/1", objectstore.Bytes(nil), &objectstore.PutOptions{Mode: objectstore.Create}); !errors.Is(err, objectstore.ErrAlreadyExists) {
			t.Errorf("put: %v", err)
		}
	})
}

func TestObserveErrorOfAWriteIsWriteCommitted(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.routePuts(mirror.WriteObserve)
		boom := errors.New("boom")
		e.policy.observe = func(context.Context, objectstore.Path, []byte, mirror.Handle) error { return boom }
		_, err := e.m.Put(e.Context(), "m/1", objectstore.Bytes([]byte("bytes")), nil)
		var committed *mirror.WriteCommitted
		if !errors.As(err, &committed) || !errors.Is(err, boom) || !objectstore.IsNonRetryable(err) {
			t.Errorf("put: %v", err)
		}
		if got := e.remoteData("m/1"); got != "bytes" {
			t.Errorf("the remote has %q", got)
		}
	})
}

func TestLastModifiedOfAMirrorWriteComesFromTheMirrorsClock(t *testing.T) {
	at := time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)
	bubbleWith(t, func(o *mirror.Options) { o.Clock = fixedClock{at} }, func(e *env) {
		e.put("a/x", "bytes")
		for range 2 {
			head, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true})
			if err != nil || !head.Meta.LastModified.Equal(at) {
				t.Errorf("last modified %v, %v", head.Meta.LastModified, err)
			}
			e.reopen()
		}
	})
}

// fixedClock stands still; sleeps end with their context only.
type fixedClock struct{ now time.Time }

func (c fixedClock) Now() time.Time { return c.now }

func (c fixedClock) Sleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestBodyThatIsShorterOrLongerThanItSays(t *testing.T) {
	bubble(t, func(e *env) {
		for name, body := range map[string]objectstore.Body{
			"short stream":    objectstore.Stream(strings.NewReader("123"), 5),
			"long stream":     objectstore.Stream(strings.NewReader("1234567"), 5),
			"short reader at": objectstore.ReaderAt(strings.NewReader("123"), 5),
			"negative":        objectstore.Stream(strings.NewReader("123"), -1),
		} {
			if _, err := e.m.Put(e.Context(), "a/x", body, nil); err == nil {
				t.Errorf("%s: no error", name)
			}
			e.wantAbsent("a/x")
		}
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestPutWhoseCallerGivesUpWhileWaiting(t *testing.T) {
	bubble(t, func(e *env) {
		open := e.gateOn("put", "a/x")
		first := background(func() error {
			_, err := e.m.Put(e.Context(), "a/x", objectstore.Bytes([]byte("1")), nil)
			return err
		})
		synctest.Wait()
		ctx, cancel := context.WithCancel(e.Context())
		second := background(func() error {
			_, err := e.m.Put(ctx, "a/x", objectstore.Bytes([]byte("2")), nil)
			return err
		})
		synctest.Wait()
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("second put: %v", err)
		}
		open(nil)
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "1")
	})
}

func TestMultipartGoesToBothPlaces(t *testing.T) {
	part := func(n, size int) string { return strings.Repeat(fmt.Sprint(n%10), size) }
	for name, c := range map[string]struct {
		order []int
		size  func(n int) int
	}{
		"in order":                 {[]int{1, 2, 3}, func(int) int { return 100_000 }},
		"any order":                {[]int{3, 1, 2}, func(int) int { return 100_000 }},
		"short last part":          {[]int{1, 2, 3}, func(n int) int { return 100_000 - 99_999*(n/3) }},
		"short last part first":    {[]int{3, 2, 1}, func(n int) int { return 100_000 - 99_999*(n/3) }},
		"growing":                  {[]int{1, 2, 3, 4}, func(n int) int { return 1000 * n * n }},
		"shrinking":                {[]int{1, 2, 3}, func(n int) int { return 1000 / n }},
		"gaps in the numbers":      {[]int{2, 5, 9}, func(int) int { return 1000 }},
		"sent again":               {[]int{1, 2, 1, 3, 2}, func(int) int { return 70_000 }},
		"no part":                  {nil, nil},
		"an empty part in between": {[]int{1, 2, 3}, func(n int) int { return (n % 2) * 5000 }},
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.Verify = true }, func(e *env) {
				attributes := objectstore.Attributes{ContentType: "x/y"}
				upload, err := e.m.PutMultipart(e.Context(), "a/x", &objectstore.MultipartOptions{Attributes: attributes})
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range c.order {
					body := bodies(part(n, c.size(n)))[[]string{"bytes", "stream", "reader at"}[i%3]]
					if err := upload.PutPart(e.Context(), n, body); err != nil {
						t.Fatal(err)
					}
				}
				e.wantAbsent("a/x")
				if _, err := upload.Complete(e.Context()); err != nil {
					t.Fatal(err)
				}
				want := e.remoteData("a/x")
				e.wantLocal("a/x", want)
				e.wantNoTemps()
				if n := e.remote.count("get", ""); n != 0 {
					t.Errorf("%d GETs: the local parts were not used", n)
				}
				e.reopen()
				e.wantLocal("a/x", want)
				head, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true})
				if err != nil || head.Attributes.ContentType != "x/y" || !strings.Contains(head.Meta.ETag, "-") {
					t.Errorf("metadata %+v, %v", head, err)
				}
			})
		})
	}
}

func TestMultipartRemoteRouteWritesTheWrappedStoreOnly(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.multipart = func(objectstore.Path, *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
			return mirror.MultipartRemote, nil
		}
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("bytes"))); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Complete(e.Context()); err != nil {
			t.Fatal(err)
		}
		if e.remoteData("a/x") != "bytes" || len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestLocalFailureInAPartAbortsTheUpload(t *testing.T) {
	bubble(t, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("1"))); err != nil {
			t.Fatal(err)
		}
		e.failOn(vfs.OpWrite, ".x.obj.", errors.New("boom"))
		err = upload.PutPart(e.Context(), 2, objectstore.Bytes([]byte("2")))
		var failure *mirror.Local
		if !errors.As(err, &failure) || !objectstore.IsNonRetryable(err) {
			t.Fatalf("part: %v", err)
		}
		e.onDisk(nil)
		if n := e.remote.count("abort", "a/x"); n != 1 {
			t.Errorf("%d aborts reached the remote", n)
		}
		if _, err := upload.Complete(e.Context()); !errors.As(err, &failure) {
			t.Errorf("complete: %v", err)
		}
		if n := e.remote.count("complete", "a/x"); n != 0 {
			t.Error("an aborted upload was completed")
		}
		if len(e.files()) != 0 || e.h.Stats().BusyPaths != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestLocalFailureInCompleteAbortsTheUpload(t *testing.T) {
	for name, op := range map[string]vfs.Op{"read": vfs.OpRead, "cut": vfs.OpTruncate, "finish": vfs.OpFinish} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("1"))); err != nil {
					t.Fatal(err)
				}
				e.failOn(op, ".x.obj.", errors.New("boom"))
				var failure *mirror.Local
				if _, err := upload.Complete(e.Context()); !errors.As(err, &failure) || isCommitted(err) {
					t.Fatalf("complete: %v", err)
				}
				e.onDisk(nil)
				if e.remote.count("abort", "a/x") != 1 || e.remote.count("complete", "a/x") != 0 || len(e.files()) != 0 {
					t.Errorf("calls %v, files %v", e.remote.calls, e.files())
				}
			})
		})
	}
}

func isCommitted(err error) bool {
	var committed *mirror.WriteCommitted
	return errors.As(err, &committed)
}

func TestLocalFailureAfterCompleteIsWriteCommitted(t *testing.T) {
	for name, fault := range map[string]struct {
		op   vfs.Op
		part string
	}{
		"create of the meta": {vfs.OpCreate, ".x.obj.meta"},
		"finish of the meta": {vfs.OpFinish, ".x.obj.meta"},
		"rename":             {vfs.OpRename, ".x.obj"},
	} {
		t.Run(name, func(t *testing.T) { testLocalFailureAfterComplete(t, fault.op, fault.part) })
	}
}

func testLocalFailureAfterComplete(t *testing.T, op vfs.Op, part string) {
	t.Helper()
	bubble(t, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("1"))); err != nil {
			t.Fatal(err)
		}
		e.failOn(op, part, errors.New("boom"))
		if _, err := upload.Complete(e.Context()); !isCommitted(err) {
			t.Fatalf("complete: %v", err)
		}
		e.onDisk(nil)
		if e.remoteData("a/x") != "1" || len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestRemoteFailureOfCompleteLeavesNothingLocal(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "there already")
		upload, err := e.m.PutMultipart(e.Context(), "a/x", &objectstore.MultipartOptions{Mode: objectstore.Create})
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("1"))); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Complete(e.Context()); !errors.Is(err, objectstore.ErrAlreadyExists) {
			t.Fatalf("complete: %v", err)
		}
		e.wantAbsent("a/x")
		if err := upload.Abort(e.Context()); err != nil {
			t.Fatal(err)
		}
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
	})
}

func TestFailedPartCanBeSentAgain(t *testing.T) {
	bubble(t, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		boom := errors.New("boom")
		e.remote.setHook(func(context.Context, call) error { return boom })
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("half"))); !errors.Is(err, boom) {
			t.Fatalf("part: %v", err)
		}
		e.remote.setHook(nil)
		if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("whole"))); err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 0, objectstore.Bytes(nil)); !errors.Is(err, objectstore.ErrInvalidOption) {
			t.Errorf("part 0: %v", err)
		}
		if _, err := upload.Complete(e.Context()); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "whole")
		e.wantNoTemps()
	})
}

func TestPartSentTwiceAtOnceIsDownloadedInstead(t *testing.T) {
	bubble(t, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		open := e.gateOn("upload part", "a/x")
		first := background(func() error { return upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("first"))) })
		second := background(func() error { return upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("other"))) })
		synctest.Wait()
		open(nil)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Complete(e.Context()); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", e.remoteData("a/x"))
		e.wantNoTemps()
	})
}

func TestUploadWithAnIDInOneProcess(t *testing.T) {
	bubble(t, func(e *env) {
		id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		var parts []objectstore.Part
		for _, n := range []int{2, 1, 3} {
			part, err := e.m.UploadPart(e.Context(), "a/x", id, n, objectstore.Bytes([]byte(fmt.Sprint("part", n))))
			if err != nil {
				t.Fatal(err)
			}
			if n != 3 { // part 3 is left out
				parts = append([]objectstore.Part{part}, parts...)
			}
		}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, parts, nil); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "part1part2")
		e.wantNoTemps()
		if n := e.remote.count("get", ""); n != 0 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestRefusedCompleteLeavesThePartsForTheNext(t *testing.T) {
	bubble(t, func(e *env) {
		id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		var parts []objectstore.Part
		for n := 1; n <= 3; n++ {
			part, err := e.m.UploadPart(e.Context(), "a/x", id, n, objectstore.Bytes([]byte(big(100_000)[n:])))
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		refused := &objectstore.CompleteOptions{Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: "other"}}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, parts[:1], refused); !errors.Is(err, objectstore.ErrPrecondition) {
			t.Errorf("complete: %v", err)
		}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, parts, nil); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", e.remoteData("a/x"))
		if n := e.remote.count("get", ""); n != 0 {
			t.Errorf("%d GETs", n)
		}
	})
}

// The local copy is finished before the remote is told to complete, so that the
// local disk's failure can abort. Whatever comes after a refusal must work.
func TestCompleteAfterAnotherThatFailed(t *testing.T) {
	for name, second := range map[string]func(e *env, send func(n int, data string) objectstore.Part, parts []objectstore.Part) []objectstore.Part{
		"again": func(_ *env, _ func(int, string) objectstore.Part, parts []objectstore.Part) []objectstore.Part {
			return parts
		},
		"fewer": func(_ *env, _ func(int, string) objectstore.Part, parts []objectstore.Part) []objectstore.Part {
			return parts[1:]
		},
		"others": func(_ *env, _ func(int, string) objectstore.Part, parts []objectstore.Part) []objectstore.Part {
			return parts[:1]
		},
		"a part sent again": func(_ *env, send func(int, string) objectstore.Part, parts []objectstore.Part) []objectstore.Part {
			return []objectstore.Part{parts[0], send(2, "anew")}
		},
		"one more": func(_ *env, send func(int, string) objectstore.Part, parts []objectstore.Part) []objectstore.Part {
			return append(parts, send(3, big(70_000)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.Verify = true }, func(e *env) {
				id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
				if err != nil {
					t.Fatal(err)
				}
				send := func(n int, data string) objectstore.Part {
					part, err := e.m.UploadPart(e.Context(), "a/x", id, n, objectstore.Bytes([]byte(data)))
					if err != nil {
						t.Fatal(err)
					}
					return part
				}
				parts := []objectstore.Part{send(1, big(100_000)), send(2, big(100_000)[1:])}
				boom := errors.New("boom")
				e.remote.setHook(func(context.Context, call) error { return boom })
				if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, parts, nil); !errors.Is(err, boom) {
					t.Fatalf("complete: %v", err)
				}
				e.remote.setHook(nil)
				if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, second(e, send, parts), nil); err != nil {
					t.Fatal(err)
				}
				e.wantLocal("a/x", e.remoteData("a/x"))
				if n := e.remote.count("get", ""); n != 0 {
					t.Errorf("%d GETs: the local parts were not used", n)
				}
				e.wantNoTemps()
			})
		})
	}
}

func TestUploadThatAnEarlierProcessBeganIsDownloadedAtComplete(t *testing.T) {
	bubble(t, func(e *env) {
		id, err := e.m.CreateMultipart(e.Context(), "a/x", &objectstore.MultipartOptions{Attributes: objectstore.Attributes{ContentType: "x/y"}})
		if err != nil {
			t.Fatal(err)
		}
		part, err := e.m.UploadPart(e.Context(), "a/x", id, 1, objectstore.Bytes([]byte("bytes")))
		if err != nil {
			t.Fatal(err)
		}
		e.reopen()
		if len(e.files()) != 0 {
			t.Errorf("parts outlived the process: %v", e.files())
		}
		second, err := e.m.UploadPart(e.Context(), "a/x", id, 2, objectstore.Bytes([]byte(" and more")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, []objectstore.Part{part, second}, nil); err != nil {
			t.Fatal(err)
		}
		e.wantLocal("a/x", "bytes and more")
		e.wantNoTemps()
		if head, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Head: true}); err != nil || head.Attributes.ContentType != "x/y" {
			t.Errorf("attributes: %+v, %v", head, err)
		}
	})
}

func TestUploadWithAnIDThatIsAborted(t *testing.T) {
	bubble(t, func(e *env) {
		id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.m.UploadPart(e.Context(), "a/x", id, 1, objectstore.Bytes([]byte("bytes"))); err != nil {
			t.Fatal(err)
		}
		if err := e.m.AbortMultipart(e.Context(), "a/x", id); err != nil {
			t.Fatal(err)
		}
		if len(e.files()) != 0 {
			t.Errorf("files: %v", e.files())
		}
		if _, err := e.m.UploadPart(e.Context(), "a/x", id, 2, objectstore.Bytes(nil)); !errors.Is(err, objectstore.ErrUploadNotFound) {
			t.Errorf("part after the abort: %v", err)
		}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/x", id, nil, nil); err == nil {
			t.Error("complete after the abort succeeded")
		}
	})
}

func TestUploadsAreListedFromTheRemote(t *testing.T) {
	bubble(t, func(e *env) {
		id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.m.UploadPart(e.Context(), "a/x", id, 1, objectstore.Bytes([]byte("bytes"))); err != nil {
			t.Fatal(err)
		}
		for upload, err := range e.m.ListMultiparts(e.Context(), "a/") {
			if err != nil || upload.ID != id {
				t.Errorf("%+v, %v", upload, err)
			}
		}
		for part, err := range e.m.ListParts(e.Context(), "a/x", id) {
			if err != nil || part.Number != 1 || part.Size != 5 {
				t.Errorf("%+v, %v", part, err)
			}
		}
	})
}

func TestPendingEvictionIsCanceledByComplete(t *testing.T) {
	bubble(t, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(e.Context(), 1, objectstore.Stream(io.LimitReader(zeros{}, 10), 10)); err != nil {
			t.Fatal(err)
		}
		open := e.gateOn("get", "a/x")
		fetch := e.h.Fetch("a/x")
		e.h.Evict("a/x")
		done := background(func() error { _, err := upload.Complete(e.Context()); return err })
		synctest.Wait()
		open(objectstore.ErrNotFound)
		if err := fetch.Wait(e.Context()); !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("fetch before the upload: %v", err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e.wantLocal("a/x", strings.Repeat("\x00", 10))
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

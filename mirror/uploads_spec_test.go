package mirror_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func TestUploadsThatRestAreNotKeptLocallyForEver(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.UploadTimeout = time.Hour }, func(e *env) {
		value, err := e.m.PutMultipart(e.Context(), "a/value", nil)
		if err != nil {
			e.Fatal(err)
		}
		if err := value.PutPart(e.Context(), 1, objectstore.Bytes([]byte("by "))); err != nil {
			e.Fatal(err)
		}
		id, err := e.m.CreateMultipart(e.Context(), "a/id", nil)
		if err != nil {
			e.Fatal(err)
		}
		first, err := e.m.UploadPart(e.Context(), "a/id", id, 1, objectstore.Bytes([]byte("by ")))
		if err != nil {
			e.Fatal(err)
		}
		if s := e.h.Stats(); s.Uploads != 2 || s.UploadBytes != 6 {
			e.Errorf("%d uploads with %d bytes", s.Uploads, s.UploadBytes)
		}
		time.Sleep(50 * time.Minute)
		if s := e.h.Stats(); s.Uploads != 2 {
			e.Errorf("%d uploads are left within the timeout", s.Uploads)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := e.h.Stats(); s.Uploads != 0 || s.UploadBytes != 0 || len(e.files()) != 0 {
			e.Errorf("%d uploads, files %v", s.Uploads, e.files())
		}
		// Their clients are not gone after all.
		if err := value.PutPart(e.Context(), 2, objectstore.Bytes([]byte("value"))); err != nil {
			e.Fatal(err)
		}
		if _, err := value.Complete(e.Context()); err != nil {
			e.Fatal(err)
		}
		e.wantLocal("a/value", "by value")
		second, err := e.m.UploadPart(e.Context(), "a/id", id, 2, objectstore.Bytes([]byte("id")))
		if err != nil {
			e.Fatal(err)
		}
		if _, err := e.m.CompleteMultipart(e.Context(), "a/id", id, []objectstore.Part{first, second}, nil); err != nil {
			e.Fatal(err)
		}
		e.wantLocal("a/id", "by id")
		e.wantNoTemps()
	})
}

func TestUploadInUseDoesNotExpire(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.UploadTimeout = time.Hour }, func(e *env) {
		upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
		if err != nil {
			e.Fatal(err)
		}
		open := e.gateOn("upload part", "a/x")
		part := background(func() error { return upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("bytes"))) })
		time.Sleep(3 * time.Hour)
		open(nil)
		if err := <-part; err != nil {
			e.Fatal(err)
		}
		open = e.gateOn("complete", "a/x")
		complete := background(func() error { _, err := upload.Complete(e.Context()); return err })
		time.Sleep(3 * time.Hour)
		open(nil)
		if err := <-complete; err != nil {
			e.Fatal(err)
		}
		e.wantLocal("a/x", "bytes")
		if n := e.remote.count("get", ""); n != 0 || e.h.Stats().Uploads != 0 {
			e.Errorf("%d GETs, %d uploads", n, e.h.Stats().Uploads)
		}
	})
}

// Someone aborted it in the bucket, as lifecycle rules do.
func TestUploadThatTheRemoteDoesNotKnowLeavesNothingLocal(t *testing.T) {
	for name, byID := range map[string]bool{"by value": false, "by id": true} {
		for _, call := range []string{"part", "complete"} {
			t.Run(name+" "+call, func(t *testing.T) {
				bubble(t, func(e *env) {
					var gone func(ctx context.Context, call string) error
					if byID {
						id, err := e.m.CreateMultipart(e.Context(), "a/x", nil)
						if err != nil {
							t.Fatal(err)
						}
						part, err := e.m.UploadPart(e.Context(), "a/x", id, 1, objectstore.Bytes([]byte("1")))
						if err != nil {
							t.Fatal(err)
						}
						gone = func(ctx context.Context, call string) error {
							if call == "part" {
								_, err := e.m.UploadPart(ctx, "a/x", id, 2, objectstore.Bytes([]byte("2")))
								return err
							}
							_, err := e.m.CompleteMultipart(ctx, "a/x", id, []objectstore.Part{part}, nil)
							return err
						}
					} else {
						upload, err := e.m.PutMultipart(e.Context(), "a/x", nil)
						if err != nil {
							t.Fatal(err)
						}
						if err := upload.PutPart(e.Context(), 1, objectstore.Bytes([]byte("1"))); err != nil {
							t.Fatal(err)
						}
						gone = func(ctx context.Context, call string) error {
							if call == "part" {
								return upload.PutPart(ctx, 2, objectstore.Bytes([]byte("2")))
							}
							_, err := upload.Complete(ctx)
							return err
						}
					}
					for upload, err := range e.remote.ListMultiparts(e.Context(), "") {
						if err != nil {
							t.Fatal(err)
						}
						if err := e.remote.Store.AbortMultipart(e.Context(), upload.Path, upload.ID); err != nil {
							t.Fatal(err)
						}
					}
					if err := gone(e.Context(), call); !errors.Is(err, objectstore.ErrUploadNotFound) {
						t.Fatalf("%s: %v", call, err)
					}
					if s := e.h.Stats(); s.Uploads != 0 || len(e.files()) != 0 {
						t.Errorf("%d uploads, files %v", s.Uploads, e.files())
					}
				})
			})
		}
	}
}

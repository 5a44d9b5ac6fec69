package mirror_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// lossy is a remote whose writes are stored, but answered as answer says.
type lossy struct {
	*hookStore
	answer func(ctx context.Context) error // nil: as they should be
}

func (l *lossy) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	return l.lose(ctx)(l.hookStore.Put(ctx, path, body, options))
}

func (l *lossy) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	return l.lose(ctx)(l.hookStore.CompleteMultipart(ctx, path, id, parts, options))
}

func (l *lossy) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, l, path, options)
}

func (l *lossy) lose(ctx context.Context) func(*objectstore.PutResult, error) (*objectstore.PutResult, error) {
	return func(result *objectstore.PutResult, err error) (*objectstore.PutResult, error) {
		if err == nil && l.answer != nil {
			if err := l.answer(ctx); err != nil {
				return nil, err
			}
		}
		return result, err
	}
}

// overwrites are the ways in which an object is overwritten through a mirror.
func overwrites(e *env, m *mirror.Mirror) map[string]func(ctx context.Context, path objectstore.Path, data string) error {
	put := func(route mirror.WriteRoute, mode objectstore.PutMode) func(ctx context.Context, path objectstore.Path, data string) error {
		return func(ctx context.Context, path objectstore.Path, data string) error {
			e.policy.routePuts(route)
			options := &objectstore.PutOptions{Mode: mode}
			if mode == objectstore.Update {
				meta, err := objectstore.Head(e.Context(), e.remote.Store, path)
				if err != nil {
					return err
				}
				options.UpdateVersion = objectstore.UpdateVersion{ETag: meta.ETag, Version: meta.Version}
			}
			_, err := m.Put(ctx, path, objectstore.Bytes([]byte(data)), options)
			return err
		}
	}
	multipart := func(route mirror.MultipartRoute, byID bool) func(ctx context.Context, path objectstore.Path, data string) error {
		return func(ctx context.Context, path objectstore.Path, data string) error {
			e.policy.multipart = func(objectstore.Path, *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
				return route, nil
			}
			body := objectstore.Bytes([]byte(data))
			if byID {
				id, err := m.CreateMultipart(ctx, path, nil)
				if err != nil {
					return err
				}
				part, err := m.UploadPart(ctx, path, id, 1, body)
				if err != nil {
					return err
				}
				_, err = m.CompleteMultipart(ctx, path, id, []objectstore.Part{part}, nil)
				return err
			}
			upload, err := m.PutMultipart(ctx, path, nil)
			if err != nil {
				return err
			}
			if err := upload.PutPart(ctx, 1, body); err != nil {
				return err
			}
			_, err = upload.Complete(ctx)
			return err
		}
	}
	return map[string]func(ctx context.Context, path objectstore.Path, data string) error{
		"put":                put(mirror.WriteMirror, objectstore.Overwrite),
		"update":             put(mirror.WriteMirror, objectstore.Update),
		"remote put":         put(mirror.WriteRemote, objectstore.Overwrite),
		"observed put":       put(mirror.WriteObserve, objectstore.Overwrite),
		"multipart":          multipart(mirror.MultipartMirror, false),
		"multipart by id":    multipart(mirror.MultipartMirror, true),
		"remote multipart":   multipart(mirror.MultipartRemote, false),
		"remote parts by id": multipart(mirror.MultipartRemote, true),
	}
}

// lossyBubble runs a test for every kind of overwrite, of a mirror that has a
// local copy of a/x with the bytes "old".
func lossyBubble(t *testing.T, test func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(ctx context.Context, path objectstore.Path, data string) error)) {
	t.Helper()
	for name := range overwrites(&env{policy: &hookPolicy{}}, nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, nil)
				remote := &lossy{hookStore: e.remote}
				m, err := mirror.Open(t.Context(), dir, remote, e.policy, &mirror.Options{VFS: e.disk.Program(), WithoutRemoteScan: true})
				if err != nil {
					t.Fatal(err)
				}
				e.m, e.h = m, m.Handle()
				e.store("a/x", "old")
				e.fetch("a/x")
				test(t, e, remote, m, overwrites(e, m)[name])
				e.close()
			})
		})
	}
}

// wantNow fails the test unless a read through the mirror, local or not, has the
// bytes that the remote has now, and does so after a restart, too.
func (e *env) wantNow(data string) {
	e.Helper()
	e.policy.routeReads(mirror.ReadThrough)
	for range 2 {
		if got, err := e.read("a/x", nil); err != nil || got != data {
			e.Fatalf("read is %q, %v; the remote has %q", got, err, data)
		}
	}
	e.reopen()
	if got, err := e.read("a/x", nil); err != nil || got != data {
		e.Fatalf("read after a restart is %q, %v; the remote has %q", got, err, data)
	}
	e.wantNoTemps()
}

func TestOverwriteWhoseAnswerIsLostLeavesNoOlderCopy(t *testing.T) {
	lossyBubble(t, func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(context.Context, objectstore.Path, string) error) {
		lost := errors.New("connection reset by peer")
		remote.answer = func(context.Context) error { return lost }
		if err := overwrite(t.Context(), "a/x", "new"); !errors.Is(err, lost) {
			t.Fatalf("overwrite: %v", err)
		}
		if e.remoteData("a/x") != "new" {
			t.Fatal("the remote has not stored it")
		}
		e.wantAbsent("a/x")
		e.wantNow("new")
	})
}

func TestOverwriteWhoseCallerGivesUpLeavesNoOlderCopy(t *testing.T) {
	lossyBubble(t, func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(context.Context, objectstore.Path, string) error) {
		ctx, cancel := context.WithCancel(t.Context())
		remote.answer = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		done := background(func() error { return overwrite(ctx, "a/x", "new") })
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatalf("overwrite: %v", err)
		}
		e.wantAbsent("a/x")
		e.wantNow("new")
	})
}

func TestOverwriteThatSucceedsLeavesNoOlderCopy(t *testing.T) {
	lossyBubble(t, func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(context.Context, objectstore.Path, string) error) {
		if err := overwrite(t.Context(), "a/x", "new"); err != nil {
			t.Fatal(err)
		}
		e.wantNow("new")
	})
}

// A driver repeats a call whose answer was lost: its own first attempt is then
// what the condition of the second one meets.
func TestRefusedWriteKeepsTheLocalCopyOnlyIfTheRemoteHasItStill(t *testing.T) {
	for _, stored := range []bool{false, true} {
		for _, refusal := range []error{objectstore.ErrAlreadyExists, objectstore.ErrPrecondition} {
			lossyBubble(t, func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(context.Context, objectstore.Path, string) error) {
				if stored {
					remote.answer = func(context.Context) error { return refusal }
				} else {
					e.remote.setHook(func(_ context.Context, c call) error {
						if c.op == "put" || c.op == "complete" {
							return refusal
						}
						return nil
					})
				}
				if err := overwrite(t.Context(), "a/x", "new"); !errors.Is(err, refusal) {
					t.Fatalf("overwrite: %v", err)
				}
				e.remote.setHook(nil)
				if stored {
					e.wantAbsent("a/x")
					e.wantNow("new")
				} else {
					e.wantLocal("a/x", "old")
				}
			})
		}
	}
}

func TestRefusedWriteDropsTheLocalCopyWhenTheRemoteCannotBeAsked(t *testing.T) {
	lossyBubble(t, func(t *testing.T, e *env, remote *lossy, m *mirror.Mirror, overwrite func(context.Context, objectstore.Path, string) error) {
		remote.answer = func(context.Context) error { return objectstore.ErrPrecondition }
		head := errors.New("unreachable")
		e.policy.routeReads(mirror.ReadLocal)
		done := background(func() error { return overwrite(t.Context(), "a/x", "new") })
		e.remote.setHook(func(_ context.Context, c call) error {
			if c.op == "head" {
				return head
			}
			return nil
		})
		if err := <-done; !errors.Is(err, objectstore.ErrPrecondition) {
			t.Fatalf("overwrite: %v", err)
		}
		e.remote.setHook(nil)
		e.wantAbsent("a/x")
	})
}

// A download that began before a write past the mirror brings older bytes.
func TestWritePastTheMirrorRemovesWhatADownloadInProgressBrings(t *testing.T) {
	for _, givesUp := range []bool{false, true} {
		bubble(t, func(e *env) {
			e.store("a/x", "old")
			gate := make(chan struct{})
			e.remote.body = func(_ call, result *objectstore.GetResult) { result.Body = &gated{result.Body, gate} }
			fetched := background(func() error { return e.h.Fetch("a/x").Wait(e.Context()) })
			synctest.Wait()
			e.policy.routePuts(mirror.WriteRemote)
			ctx, cancel := context.WithCancel(e.Context())
			defer cancel()
			written := background(func() error {
				_, err := e.m.Put(ctx, "a/x", objectstore.Bytes([]byte("new")), nil)
				return err
			})
			if !pending(written) {
				e.Fatal("the write did not wait for the download in progress")
			}
			if givesUp {
				cancel()
				if err := <-written; err != nil {
					e.Fatal(err) // the remote has it
				}
			}
			close(gate)
			if err := <-fetched; err != nil {
				e.Fatal(err)
			}
			if !givesUp {
				if err := <-written; err != nil {
					e.Fatal(err)
				}
			}
			synctest.Wait()
			e.wantAbsent("a/x")
			e.remote.body = nil
			e.wantNow("new")
		})
	}
}

func TestWritePastTheMirrorOfAPathThatIsNotLocalAsksForNothingMore(t *testing.T) {
	bubble(t, func(e *env) {
		e.policy.routePuts(mirror.WriteRemote)
		e.put("a/x", "bytes")
		e.put("a/x", "other")
		if n := e.remote.count("head", ""); n != 0 || len(e.files()) != 0 {
			e.Errorf("%d HEADs, files %v", n, e.files())
		}
	})
}

// Close must not forget that a copy is older than the remote's object.
func TestCloseRemovesWhatAWritePastTheMirrorHasReplaced(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "old")
		e.fetch("a/x")
		e.store("b/x", "bytes")
		e.fetch("b/x")
		release := e.holdRemoval()
		e.h.Evict("b/x") // the evictor is busy
		synctest.Wait()
		e.policy.routePuts(mirror.WriteRemote)
		ctx, cancel := context.WithCancel(e.Context())
		written := background(func() error {
			_, err := e.m.Put(ctx, "a/x", objectstore.Bytes([]byte("new")), nil)
			return err
		})
		synctest.Wait()
		e.wantAbsent("a/x")
		cancel()
		if err := <-written; err != nil {
			e.Fatal(err)
		}
		closed := background(e.m.Close)
		synctest.Wait()
		release()
		if err := <-closed; err != nil {
			e.Fatal(err)
		}
		e.open()
		e.wantAbsent("a/x")
	})
}

// gated is a body whose bytes come when a gate opens.
type gated struct {
	io.ReadCloser
	gate <-chan struct{}
}

func (g *gated) Read(p []byte) (int, error) {
	<-g.gate
	return g.ReadCloser.Read(p)
}

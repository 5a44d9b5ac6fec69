package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// with opens a mirror of a policy of its own.
func with(t *testing.T, policy mirror.Policy, remote *hookStore, test func(t *testing.T, m *mirror.Mirror)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewSimulated()
		m, err := mirror.Open(t.Context(), dir, remote, policy, &mirror.Options{VFS: disk, WithoutRemoteScan: true})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		test(t, m)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func put(t *testing.T, store objectstore.Store, path objectstore.Path, data string) {
	t.Helper()
	if _, err := store.Put(t.Context(), path, objectstore.Bytes([]byte(data)), nil); err != nil {
		t.Fatal(err)
	}
}

func TestKeepAllWarmsAndKeepsEverythingUnderItsPrefix(t *testing.T) {
	remote := newHookStore()
	for i := range 600 {
		put(t, remote.Store, objectstore.Path(fmt.Sprintf("keep/%03d", i)), "bytes")
	}
	put(t, remote.Store, "other/x", "bytes")
	with(t, &mirror.KeepAll{Prefix: "keep/"}, remote, func(t *testing.T, m *mirror.Mirror) {
		h := m.Handle()
		if s := h.Stats(); s.Objects != 600 {
			t.Errorf("%d objects are local", s.Objects)
		}
		put(t, m, "keep/new", "bytes")
		put(t, m, "other/new", "bytes")
		for path, local := range map[objectstore.Path]bool{"keep/new": true, "other/new": false, "other/x": false} {
			if data, _, err := objectstore.ReadAll(t.Context(), m, path); err != nil || string(data) != "bytes" || h.Contains(path) != local {
				t.Errorf("%s: %q, %v, local %v", path, data, err, h.Contains(path))
			}
		}
		upload, err := m.PutMultipart(t.Context(), "keep/parts", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := upload.PutPart(t.Context(), 1, objectstore.Bytes([]byte("bytes"))); err != nil {
			t.Fatal(err)
		}
		if _, err := upload.Complete(t.Context()); err != nil || !h.Contains("keep/parts") {
			t.Errorf("multipart: %v", err)
		}
	})
}

func TestWarmReportsTheFirstFailureAndForgivesDeletedObjects(t *testing.T) {
	remote := newHookStore()
	for i := range 10 {
		put(t, remote.Store, objectstore.Path(fmt.Sprintf("a/%d", i)), "bytes")
	}
	with(t, &mirror.KeepAll{WithoutWarming: true}, remote, func(t *testing.T, m *mirror.Mirror) {
		remote.setHook(func(_ context.Context, c call) error {
			switch {
			case c.op == "get" && c.path == "a/3":
				return objectstore.ErrNotFound
			case c.op == "get" && c.path == "a/7":
				return objectstore.ErrPermissionDenied
			}
			return nil
		})
		if err := mirror.Warm(t.Context(), m.Handle(), "a/"); !errors.Is(err, objectstore.ErrPermissionDenied) {
			t.Errorf("warm: %v", err)
		}
		remote.setHook(nil)
		if err := mirror.Warm(t.Context(), m.Handle(), "a/"); err != nil || m.Handle().Stats().Objects != 10 {
			t.Errorf("warm: %v, %d objects", err, m.Handle().Stats().Objects)
		}
	})
}

func TestRulesTakeTheFirstThatMatches(t *testing.T) {
	rules, err := mirror.NewRules(
		mirror.Rule{Prefix: "db/wal/"},
		mirror.Rule{Prefix: "db/", Suffix: ".sst", Read: mirror.ReadLocal, Write: mirror.WriteMirror, Multipart: mirror.MultipartMirror},
		mirror.Rule{Glob: "img/**/*.{png,jpg}", Read: mirror.ReadThrough},
		mirror.Keep("all/"),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[objectstore.Path]struct {
		read      mirror.ReadRoute
		write     mirror.WriteRoute
		multipart mirror.MultipartRoute
	}{
		"db/wal/1.sst":  {},
		"db/c/1.sst":    {mirror.ReadLocal, mirror.WriteMirror, mirror.MultipartMirror},
		"db/c/1.txt":    {},
		"img/a/b/c.png": {mirror.ReadThrough, mirror.WriteRemote, mirror.MultipartRemote},
		"img/c.jpg":     {mirror.ReadThrough, mirror.WriteRemote, mirror.MultipartRemote},
		"img/c.gif":     {},
		"all/x":         {mirror.ReadThrough, mirror.WriteMirror, mirror.MultipartMirror},
		"else":          {},
	} {
		read, e1 := rules.ReadRoute(path, &objectstore.GetOptions{})
		write, e2 := rules.PutRoute(path, &objectstore.PutOptions{})
		multipart, e3 := rules.MultipartRoute(path, &objectstore.MultipartOptions{})
		if err := errors.Join(e1, e2, e3); err != nil || read != want.read || write != want.write || multipart != want.multipart {
			t.Errorf("%s: %v %v %v, %v", path, read, write, multipart, err)
		}
	}
}

func TestRulesThatCannotBeAreRefused(t *testing.T) {
	for name, rule := range map[string]mirror.Rule{
		"glob":          {Glob: "a/[b"},
		"observe read":  {Read: mirror.ReadObserve},
		"observe write": {Write: mirror.WriteObserve},
		"read":          {Read: 99},
		"write":         {Write: -1},
		"multipart":     {Multipart: 7},
	} {
		_, err := mirror.NewRules(mirror.Rule{}, rule)
		if _, ok := errors.AsType[*mirror.InvalidConfig](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLRUKeepsTheObjectsUsedLastUpToItsLimit(t *testing.T) {
	remote := newHookStore()
	for _, path := range []objectstore.Path{"1", "2", "3", "4", "5"} {
		put(t, remote.Store, path, big(100))
	}
	put(t, remote.Store, "huge", big(1000))
	lru, err := mirror.NewLRU(350)
	if err != nil {
		t.Fatal(err)
	}
	with(t, lru, remote, func(t *testing.T, m *mirror.Mirror) {
		read := func(path objectstore.Path) {
			t.Helper()
			if _, _, err := objectstore.ReadAll(t.Context(), m, path); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		want := func(paths ...objectstore.Path) {
			t.Helper()
			for _, path := range paths {
				if !m.Handle().Contains(path) {
					t.Errorf("%s is not local", path)
				}
			}
			if s := m.Handle().Stats(); s.Objects != int64(len(paths)) || s.Bytes != lru.Bytes() || s.Bytes > 350 {
				t.Errorf("%d objects of %d bytes, the LRU counts %d", s.Objects, s.Bytes, lru.Bytes())
			}
		}
		read("1")
		read("2")
		read("3")
		want("1", "2", "3")
		read("1")
		read("4")
		want("1", "3", "4")
		read("huge") // served by the remote, evicts nothing
		want("1", "3", "4")
		put(t, m, "large", big(400)) // mirrored, and gone again
		synctest.Wait()
		want("1", "3", "4")
		read("5")
		put(t, m, "6", big(100))
		synctest.Wait()
		want("4", "5", "6")
		if err := m.Delete(t.Context(), "5"); err != nil {
			t.Fatal(err)
		}
		want("4", "6")
	})
}

func TestLRUCountsWhatItFindsAtStartup(t *testing.T) {
	remote := newHookStore()
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewSimulated()
		for round, limit := range []int64{1000, 250} {
			lru, err := mirror.NewLRU(limit)
			if err != nil {
				t.Fatal(err)
			}
			m, err := mirror.Open(t.Context(), dir, remote, lru, &mirror.Options{VFS: disk, WithoutRemoteScan: true})
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				for _, path := range []objectstore.Path{"1", "2", "3", "4"} {
					put(t, m, path, big(100))
				}
			}
			synctest.Wait()
			if got, want := lru.Bytes(), []int64{400, 200}[round]; got != want {
				t.Errorf("round %d: %d bytes, want %d", round, got, want)
			}
			if round == 1 && (m.Handle().Contains("1") || !m.Handle().Contains("4")) {
				t.Error("the newest went first")
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLRUWithoutALimitIsRefused(t *testing.T) {
	for _, limit := range []int64{0, -1} {
		var invalid *mirror.InvalidConfig
		if _, err := mirror.NewLRU(limit); !errors.As(err, &invalid) {
			t.Errorf("%d: %v", limit, err)
		}
	}
}

func TestPolicyErrorsAndUnknownRoutesReachTheCallerAndNothingElse(t *testing.T) {
	boom := errors.New("boom")
	bubble(t, func(e *env) {
		for name, fail := range map[string]error{"error": boom, "unknown route": nil} {
			e.policy.read = func(objectstore.Path, *objectstore.GetOptions) (mirror.ReadRoute, error) { return 99, fail }
			e.policy.put = func(objectstore.Path, *objectstore.PutOptions) (mirror.WriteRoute, error) { return 99, fail }
			e.policy.multipart = func(objectstore.Path, *objectstore.MultipartOptions) (mirror.MultipartRoute, error) { return 99, fail }
			_, getErr := e.m.Get(e.Context(), "a/x", nil)
			_, putErr := e.m.Put(e.Context(), "a/x", objectstore.Bytes(nil), nil)
			_, uploadErr := e.m.PutMultipart(e.Context(), "a/x", nil)
			_, createErr := e.m.CreateMultipart(e.Context(), "a/x", nil)
			_, completeErr := e.m.CompleteMultipart(e.Context(), "a/x", "unknown", nil, nil)
			for i, err := range []error{getErr, putErr, uploadErr, createErr, completeErr} {
				var refused *mirror.PolicyError
				if !errors.As(err, &refused) || refused.Path != "a/x" || !objectstore.IsNonRetryable(err) || fail != nil && !errors.Is(err, fail) {
					t.Errorf("%s %d: %v", name, i, err)
				}
			}
		}
		if len(e.remote.calls) != 0 || len(e.files()) != 0 {
			t.Errorf("calls %v, files %v", e.remote.calls, e.files())
		}
	})
}

func TestAFailedRunOfThePolicyLeavesTheMirrorWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t, nil)
		e.policy.run = func(context.Context, mirror.Handle) error { return errors.New("boom") }
		e.open()
		e.put("a/x", "bytes")
		e.wantLocal("a/x", "bytes")
		e.close()
	})
}

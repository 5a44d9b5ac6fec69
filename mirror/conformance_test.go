package mirror_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// copying is a mirror whose copies and renames go to the remote, so that it can
// run the whole suite; its reads must then not trust local copies.
type copying struct {
	*mirror.Mirror
	remote *memory.Store
}

func (c *copying) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return c.remote.Copy(ctx, from, to, options)
}

func (c *copying) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	return c.remote.Rename(ctx, from, to, options)
}

func TestAMirrorIsAStoreLikeAnyOther(t *testing.T) {
	for name, read := range map[string]mirror.ReadRoute{
		"refetch": mirror.ReadRefetch, "observe": mirror.ReadObserve, "remote": mirror.ReadRemote,
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) objectstore.Store {
				policy := &hookPolicy{}
				policy.routeReads(read)
				remote := memory.New(nil)
				m, err := mirror.Open(t.Context(), t.TempDir(), remote, policy, &mirror.Options{Verify: true})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := m.Close(); err != nil {
						t.Error(err)
					}
					if s := m.Handle().Stats(); s.BusyPaths != 0 || s.OpenFiles != 0 {
						t.Errorf("left over: %+v", s)
					}
				})
				return &copying{m, remote}
			}, storetest.Features{})
		})
	}
}

func TestATransientRemoteUnderARealRetryLoop(t *testing.T) {
	// Seeded faults of every kind below the mirror: what it returns without an
	// error is right, and what it fetches gets there.
	for seed := range uint64(5) {
		inner := memory.New(nil)
		remote := storetest.Faulty(inner, storetest.FaultyOptions{
			Script: storetest.Seeded(seed, storetest.Rates{Before: 0.2, After: 0.1, Cut: 0.2, CutSend: 0.1, MaxBody: 100_000}),
		})
		policy := &hookPolicy{}
		policy.routeReads(mirror.ReadThrough)
		m, err := mirror.Open(t.Context(), t.TempDir(), remote, policy, &mirror.Options{Identity: "faulty", Backoff: objectstore.Backoff{Init: 1, Max: 1}, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		data := big(150_000)
		for i, path := range []objectstore.Path{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6"} {
			want := data[i*1000:]
			_, err := m.Put(t.Context(), path, objectstore.Bytes([]byte(want)), nil)
			if err != nil && !objectstore.IsTransient(err) && !errors.Is(err, storetest.ErrInjected) {
				t.Errorf("seed %d: put: %v", seed, err)
			}
			if _, err := inner.Get(t.Context(), path, nil); err != nil {
				continue // it did not get there
			}
			if err := m.Handle().Fetch(path).Wait(t.Context()); err != nil {
				t.Errorf("seed %d: fetch: %v", seed, err)
			}
			got, _, err := objectstore.ReadAll(t.Context(), m, path)
			if err != nil || string(got) != want {
				t.Errorf("seed %d: %s: %d bytes, %v", seed, path, len(got), err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

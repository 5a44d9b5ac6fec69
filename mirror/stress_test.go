package mirror_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// TestConcurrentOperationsNeverServeWrongBytes runs everything at once on the
// real file system, for the race detector: a read gives the right bytes or one
// of the errors that it may give.
func TestConcurrentOperationsNeverServeWrongBytes(t *testing.T) {
	for _, verify := range []bool{false, true} {
		t.Run(fmt.Sprint("verify ", verify), func(t *testing.T) {
			remote := newHookStore()
			policy := &hookPolicy{}
			policy.read = func(_ objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
				route, _ := objectstore.ExtensionOf[mirror.ReadRoute](options.Extensions)
				return route, nil
			}
			m, err := mirror.Open(t.Context(), t.TempDir(), remote, policy, &mirror.Options{Verify: verify, MaxIdleFiles: 3, DownloadConcurrency: 3})
			if err != nil {
				t.Fatal(err)
			}
			h := m.Handle()
			content := func(i int) string { return strings.Repeat(fmt.Sprintf("%03d.", i), 30_000*(1+i%3)) }
			path := func(i int) objectstore.Path { return objectstore.Path(fmt.Sprintf("dir%d/%03d", i%3, i)) }
			const objects, workers, rounds = 12, 8, 150
			var wg sync.WaitGroup
			for w := range workers {
				random := rand.New(rand.NewPCG(uint64(w), 7))
				wg.Go(func() {
					for range rounds {
						i := random.IntN(objects)
						var err error
						switch random.IntN(12) {
						case 0:
							_, err = m.Put(t.Context(), path(i), objectstore.Bytes([]byte(content(i))), nil)
						case 1:
							err = m.Delete(t.Context(), path(i))
						case 2, 3:
							err = h.Fetch(path(i), path(random.IntN(objects))).Wait(t.Context())
						case 4:
							h.Prefetch(path(i))
						case 5:
							h.Evict(path(i))
						case 6:
							f := h.Fetch(path(i))
							f.Cancel()
						case 7:
							_ = h.Stats()
							_, err = m.Scan(t.Context())
						default:
							route := mirror.ReadRoute(2 + random.IntN(3))
							options := &objectstore.GetOptions{Extensions: objectstore.WithExtension(objectstore.Extensions{}, route)}
							start := random.IntN(100_000)
							if random.IntN(2) == 0 {
								options.Range = objectstore.From(int64(start))
							} else {
								start = 0
							}
							var result *objectstore.GetResult
							if result, err = m.Get(t.Context(), path(i), options); err == nil {
								var got []byte
								got, err = io.ReadAll(result.Body)
								if err == nil && string(got) != content(i)[start:] {
									t.Errorf("%s: wrong bytes from %d", path(i), start)
								}
								if e := result.Body.Close(); e != nil {
									t.Error(e)
								}
							}
						}
						if err != nil && !errors.Is(err, objectstore.ErrNotFound) && !isNotLocal(err) {
							t.Errorf("%s: %v", path(i), err)
						}
					}
				})
			}
			wg.Wait()
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if s := h.Stats(); s.BusyPaths != 0 || s.PendingEvictions != 0 || s.QueuedDownloads != 0 || s.OpenFiles != 0 {
				t.Errorf("left over: %+v", s)
			}
		})
	}
}

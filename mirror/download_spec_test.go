package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// large is an object of several segments.
const large = 21<<20 + 12345

var errSlow = errors.New("slow down")

func TestTransientErrorsOfTheMirrorsOwnCallsAreRetriedForever(t *testing.T) {
	for name, do := range map[string]func(e *env) error{
		"fetch": func(e *env) error { return e.h.Fetch("a/x").Wait(e.Context()) },
		"prefetch": func(e *env) error {
			e.h.Prefetch("a/x")
			return nil
		},
		"refetch": func(e *env) error {
			e.policy.routeReads(mirror.ReadRefetch)
			_, err := e.read("a/x", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.store("a/x", "bytes")
				failures := 100
				e.remote.setHook(func(context.Context, call) error {
					if failures--; failures >= 0 {
						return objectstore.Transient(errSlow, 0)
					}
					return nil
				})
				if err := do(e); err != nil {
					t.Fatal(err)
				}
				for !e.h.Contains("a/x") {
					if err := (mirror.SystemClock{}).Sleep(e.Context(), time.Minute); err != nil {
						t.Fatal(err)
					}
				}
				e.wantLocal("a/x", "bytes")
				if s := e.h.Stats(); s.DownloadRetries != 100 {
					t.Errorf("%d retries", s.DownloadRetries)
				}
			})
		})
	}
}

func TestMaxRetriesBoundsThemAndTheErrorIsNotRetriedAgain(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.MaxRetries = 3 }, func(e *env) {
		e.store("a/x", "bytes")
		e.remote.setHook(func(context.Context, call) error { return objectstore.Transient(errSlow, 0) })
		err := e.h.Fetch("a/x").Wait(e.Context())
		var named *objectstore.Error
		if !errors.Is(err, errSlow) || objectstore.IsTransient(err) || !errors.As(err, &named) || named.Path != "a/x" {
			t.Errorf("fetch: %v", err)
		}
		if n := e.remote.count("get", ""); n != 4 {
			t.Errorf("%d GETs", n)
		}
		if _, err := e.h.GetRemote(e.Context(), "a/x"); !errors.Is(err, errSlow) || objectstore.IsTransient(err) {
			t.Errorf("GetRemote: %v", err)
		}
		if n := e.remote.count("get", ""); n != 8 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestBackoffGrowsAndHonorsRetryAfter(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.Random = func() float64 { return 0.999999 } }, func(e *env) {
		e.store("a/x", "bytes")
		var times []time.Duration
		start := time.Now()
		e.remote.setHook(func(context.Context, call) error {
			times = append(times, time.Since(start).Round(10*time.Millisecond))
			switch len(times) {
			case 1, 2, 3, 4, 5, 6:
				return objectstore.Transient(errSlow, 0)
			case 7:
				return objectstore.Transient(errSlow, time.Minute)
			}
			return nil
		})
		e.fetch("a/x")
		want := "[0s 100ms 300ms 700ms 1.5s 2.5s 3.5s 1m3.5s]"
		if got := fmt.Sprint(times); got != want {
			t.Errorf("GETs at %v, want %v", got, want)
		}
	})
}

func TestErrorsThatARepetitionCannotMendFailAtOnce(t *testing.T) {
	for _, cause := range []error{objectstore.ErrNotFound, objectstore.ErrPermissionDenied, errors.New("unknown")} {
		bubble(t, func(e *env) {
			e.remote.setHook(func(context.Context, call) error { return cause })
			err := e.h.Fetch("a/x").Wait(e.Context())
			if !errors.Is(err, cause) || e.remote.count("get", "") != 1 {
				t.Errorf("%v: %v after %d GETs", cause, err, e.remote.count("get", ""))
			}
			e.wantNoTemps()
		})
	}
}

func TestAPrefetchThatFailedDoesNotSpoilALaterFetch(t *testing.T) {
	bubble(t, func(e *env) {
		e.h.Prefetch("a/x")
		synctest.Wait()
		if s := e.h.Stats(); s.PrefetchFailures != 1 || s.BusyPaths != 0 {
			t.Errorf("stats: %+v", s.Counters)
		}
		e.store("a/x", "bytes")
		e.fetch("a/x")
		e.wantLocal("a/x", "bytes")
	})
}

func TestCutBodyIsResumedAndNeverInstalledShort(t *testing.T) {
	data := big(large)
	for name, cut := range map[string]func(io.Reader, int64) io.ReadCloser{
		"with an error": func(r io.Reader, n int64) io.ReadCloser {
			return io.NopCloser(io.MultiReader(io.LimitReader(r, n), failing{syscall.ECONNRESET}))
		},
		"with a plain EOF": func(r io.Reader, n int64) io.ReadCloser { return io.NopCloser(io.LimitReader(r, n)) },
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = 1; o.Verify = true }, func(e *env) {
				e.store("a/x", data)
				var received atomic.Int64
				cuts := 0
				e.remote.body = func(c call, result *objectstore.GetResult) {
					body := io.Reader(&countingReader{result.Body, &received})
					cuts++
					if n := int64(cuts) * 1_000_003; cuts < 6 && n < result.End-result.Start {
						result.Body = cut(body, n)
						return
					}
					result.Body = io.NopCloser(body)
				}
				e.fetch("a/x")
				e.wantLocal("a/x", data)
				if n := received.Load(); n != large {
					t.Errorf("%d bytes received for an object of %d: it did not resume", n, large)
				}
				if len(e.remote.calls) < 4 {
					t.Errorf("%d GETs", len(e.remote.calls))
				}
				for _, c := range e.remote.calls[1:] {
					if c.options.IfMatch == "" || c.options.Range == nil {
						t.Errorf("GET without If-Match or range: %+v", c.options)
					}
				}
			})
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type countingReader struct {
	io.Reader
	n *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func TestEmptyBodyIsNeverInstalled(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.MaxRetries = 2 }, func(e *env) {
		e.store("a/x", "bytes")
		e.remote.body = func(_ call, result *objectstore.GetResult) { result.Body = io.NopCloser(strings.NewReader("")) }
		if err := e.h.Fetch("a/x").Wait(e.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("fetch: %v", err)
		}
		e.wantAbsent("a/x")
		e.wantNoTemps()
	})
}

func TestBodyLongerThanPromisedIsNeverInstalled(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			result.Body = io.NopCloser(io.MultiReader(result.Body, strings.NewReader("more")))
		}
		if err := e.h.Fetch("a/x").Wait(e.Context()); err == nil || !strings.Contains(err.Error(), "longer") {
			t.Errorf("fetch: %v", err)
		}
		e.wantAbsent("a/x")
		e.wantNoTemps()
	})
}

func TestSourceThatDisownsItsBytesAtTheEndIsReadAgain(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", "bytes")
		first := true
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			if first {
				first = false
				result.Body = io.NopCloser(io.MultiReader(strings.NewReader("wrong"), failing{objectstore.Transient(errors.New("checksum"), 0)}))
			}
		}
		e.fetch("a/x")
		e.wantLocal("a/x", "bytes")
	})
}

func TestRangeDisownedAtItsEndIsReadAgainAlone(t *testing.T) {
	data := big(large)
	bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = 2 }, func(e *env) {
		e.store("a/x", data)
		spoilt := false
		e.remote.body = func(c call, result *objectstore.GetResult) {
			if c.options.Range != nil && !spoilt {
				spoilt = true
				wrong := io.LimitReader(zeros{}, result.End-result.Start)
				result.Body = io.NopCloser(io.MultiReader(wrong, failing{objectstore.Transient(errors.New("checksum"), 0)}))
			}
		}
		e.fetch("a/x")
		e.wantLocal("a/x", data)
		whole := 0
		for _, c := range e.remote.calls {
			if c.options.Range == nil {
				whole++
			}
		}
		if !spoilt || whole != 1 {
			t.Errorf("spoilt %v, %d GETs of the whole object", spoilt, whole)
		}
	})
}

func TestImpossibleAnswersAreErrors(t *testing.T) {
	for name, spoil := range map[string]func(*objectstore.GetResult){
		"negative size":  func(r *objectstore.GetResult) { r.Meta.Size, r.End = -1, -1 },
		"huge size":      func(r *objectstore.GetResult) { r.Meta.Size, r.End = 1<<60, 1<<60 },
		"another range":  func(r *objectstore.GetResult) { r.Start = 1 },
		"without a body": func(r *objectstore.GetResult) { r.Body = nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.MaxRetries = 1; o.DownloadConcurrency = 2 }, func(e *env) {
				e.store("a/x", "bytes")
				e.remote.body = func(_ call, result *objectstore.GetResult) { spoil(result) }
				if err := e.h.Fetch("a/x").Wait(e.Context()); err == nil {
					t.Error("fetched")
				}
				e.wantAbsent("a/x")
				e.wantNoTemps()
			})
		})
	}
}

func TestLargeObjectsDownloadInParallelRangesUnderIfMatch(t *testing.T) {
	data := big(large)
	bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = 3; o.Verify = true }, func(e *env) {
		e.store("a/x", data)
		// Each body waits until three are open: without parallel GETs, the
		// bubble would find itself deadlocked.
		var open sync.WaitGroup
		open.Add(3)
		var once [3]sync.Once
		i := 0
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			n := min(i, 2)
			i++
			result.Body = &meetingBody{result.Body, func() { once[n].Do(open.Done); open.Wait() }}
		}
		e.fetch("a/x")
		e.wantLocal("a/x", data)
		for _, c := range e.remote.calls[1:] {
			if c.options.IfMatch == "" {
				t.Errorf("GET without If-Match: %+v", c.options)
			}
		}
		if n := len(e.remote.calls); n != 3 {
			t.Errorf("%d GETs for 3 segments", n)
		}
		if s := e.h.Stats(); s.DownloadedBytes != large {
			t.Errorf("%d bytes downloaded", s.DownloadedBytes)
		}
	})
}

type meetingBody struct {
	io.ReadCloser
	meet func()
}

func (m *meetingBody) Read(p []byte) (int, error) {
	m.meet()
	return m.ReadCloser.Read(p)
}

func TestObjectReplacedWhileItDownloadsStartsOver(t *testing.T) {
	before, after := big(large), strings.Repeat("new bytes ", large/10)
	for _, concurrency := range []int{1, 4} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = concurrency }, func(e *env) {
				e.store("a/x", before)
				n := 0
				e.remote.body = func(_ call, result *objectstore.GetResult) {
					if n++; n == 1 {
						e.store("a/x", after)
						// The first body goes on with the old bytes, and is cut.
						result.Body = io.NopCloser(io.LimitReader(result.Body, 9<<20))
					}
				}
				e.fetch("a/x")
				e.wantLocal("a/x", after)
				e.wantNoTemps()
			})
		})
	}
}

func TestObjectWithoutAUsableETagIsNotRangedOrMixed(t *testing.T) {
	data := big(large)
	for _, etag := range []string{"", `W/"weak"`} {
		bubble(t, func(e *env) {
			e.store("a/x", data)
			cuts := 0
			e.remote.body = func(c call, result *objectstore.GetResult) {
				if c.options.Range != nil || c.options.IfMatch != "" {
					t.Errorf("ranged GET: %+v", c.options)
				}
				result.Meta.ETag = etag
				if cuts++; cuts < 3 {
					result.Body = io.NopCloser(io.LimitReader(result.Body, 9<<20))
				}
			}
			e.fetch("a/x")
			e.wantLocal("a/x", data)
		})
	}
}

func TestObjectThatChangesAllTheTimeFailsInTheEnd(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = 2 }, func(e *env) {
		e.store("a/x", big(large))
		e.remote.body = func(c call, result *objectstore.GetResult) {
			if c.options.Range == nil {
				result.Body = io.NopCloser(io.LimitReader(result.Body, 10))
			} else {
				result.Meta.ETag += "changed"
			}
		}
		// Without ranges it goes on being cut, and so for ever: bound it.
		ctx, cancel := context.WithTimeout(e.Context(), time.Hour)
		defer cancel()
		if err := e.h.Fetch("a/x").Wait(ctx); err == nil {
			t.Error("fetched")
		}
		synctest.Wait()
		e.wantAbsent("a/x")
		e.wantNoTemps()
		if s := e.h.Stats(); s.BusyPaths != 0 {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestAtMostSoManyDownloadsRunAtOnce(t *testing.T) {
	for _, limit := range []int{1, 3, 8} {
		bubbleWith(t, func(o *mirror.Options) { o.DownloadConcurrency = limit }, func(e *env) {
			var paths []objectstore.Path
			for i := range 40 {
				path := objectstore.Path(fmt.Sprint("a/", i))
				e.store(path, "bytes")
				paths = append(paths, path)
			}
			var mu sync.Mutex
			running, most := 0, 0
			e.remote.setHook(func(ctx context.Context, _ call) error {
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				err := (mirror.SystemClock{}).Sleep(ctx, time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				return err
			})
			fetch := e.h.Fetch(paths...)
			synctest.Wait()
			if s := e.h.Stats(); len(s.Downloads) != limit || s.QueuedDownloads != 40-limit || s.BusyPaths != 40 {
				t.Errorf("stats: %d running, %d queued, %d busy", len(s.Downloads), s.QueuedDownloads, s.BusyPaths)
			}
			if err := fetch.Wait(e.Context()); err != nil {
				t.Fatal(err)
			}
			if most != limit {
				t.Errorf("%d downloads at once, limit %d", most, limit)
			}
		})
	}
}

func TestDiskFullInADownloadLeavesNoTraceAndOthersGoOn(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/old", big(300_000))
		e.store("a/big", big(2_000_000))
		e.store("a/small", "bytes")
		e.disk.SetCapacity(1_000_000)
		used := e.disk.Used()
		err := e.h.Fetch("a/big").Wait(e.Context())
		var failure *mirror.Local
		if !errors.As(err, &failure) || failure.Path != "a/big" || !errors.Is(err, objectstore.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fetch: %v", err)
		}
		if e.disk.Used() != used {
			t.Errorf("%d bytes in use, before %d", e.disk.Used(), used)
		}
		e.wantNoTemps()
		e.fetch("a/small")
		e.wantLocal("a/small", "bytes")
		e.h.Evict("a/old")
		synctest.Wait()
		e.wantAbsent("a/old")
		e.disk.SetCapacity(-1)
		e.fetch("a/big")
		e.wantLocal("a/big", big(2_000_000))
	})
}

func TestMirrorStartsAndServesOnAFullDisk(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.close()
		e.disk.WriteFile(dir+"/0123456789abcdef0123456789abcdef.x.obj.9", make([]byte, 1000))
		e.disk.SetCapacity(e.disk.Used())
		e.open()
		e.wantLocal("a/x", "bytes")
		e.wantNoTemps()
	})
}

func TestReadThroughOnAFullDiskReadsTheRemote(t *testing.T) {
	bubble(t, func(e *env) {
		e.store("a/x", big(100_000))
		e.disk.SetCapacity(e.disk.Used() + 1000)
		e.policy.routeReads(mirror.ReadThrough)
		for range 2 {
			got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.Bounded(10, 20)})
			if err != nil || got != big(100_000)[10:20] {
				t.Errorf("read %q, %v", got, err)
			}
		}
		e.wantNoTemps()
		e.disk.SetCapacity(-1)
		e.policy.routeReads(mirror.ReadThrough)
		if _, err := e.read("a/x", nil); err != nil || !e.h.Contains("a/x") {
			t.Errorf("after space came back: %v", err)
		}
	})
}

func TestFetchOfNothingAndOfWhatIsLocalEndsAtOnce(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.fetch()
		e.fetch("a/x", "a/x")
		if n := e.remote.count("get", ""); n != 0 {
			t.Errorf("%d GETs", n)
		}
		e.store("a/y", "bytes")
		e.fetch("a/y", "a/y", "a/x", "a/y")
		if n := e.remote.count("get", ""); n != 1 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestOpenFailureIsLocalAndNamesThePath(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/x", "bytes")
		e.failOn(vfs.OpOpen, ".x.obj", syscall.EIO)
		e.policy.routeReads(mirror.ReadLocal)
		_, err := e.read("a/x", nil)
		var failure *mirror.Local
		if !errors.As(err, &failure) || failure.Path != "a/x" || !objectstore.IsNonRetryable(err) {
			t.Errorf("read: %v", err)
		}
		e.failOn(vfs.OpRead, ".x.obj", syscall.EIO)
		if _, err := e.read("a/x", nil); !errors.As(err, &failure) {
			t.Errorf("read: %v", err)
		}
		e.onDisk(nil)
		e.wantLocal("a/x", "bytes")
	})
}

// MaxRetries bounds repetitions without progress, also when the bytes come and
// are then disowned, as with a checksum that never matches.
func TestMaxRetriesCountsFailuresSinceTheLastProgress(t *testing.T) {
	retries := func(o *mirror.Options) { o.MaxRetries = 2 }
	data := big(10_000)
	bubbleWith(t, retries, func(e *env) {
		e.store("a/x", data)
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			if result.End-result.Start > 1000 {
				result.Body = io.NopCloser(io.MultiReader(io.LimitReader(result.Body, 1000), failing{io.ErrUnexpectedEOF}))
			}
		}
		e.fetch("a/x")
		e.wantLocal("a/x", data)
	})
	bubbleWith(t, retries, func(e *env) {
		e.store("a/x", data)
		mismatch := objectstore.Transient(errors.New("checksum mismatch"), 0)
		e.remote.body = func(_ call, result *objectstore.GetResult) {
			result.Body = io.NopCloser(io.MultiReader(result.Body, failing{mismatch}))
		}
		if err := e.h.Fetch("a/x").Wait(e.Context()); !errors.Is(err, mismatch) {
			e.Errorf("fetch: %v", err)
		}
		if n := e.remote.count("get", ""); n != 3 {
			e.Errorf("%d GETs", n)
		}
		e.wantAbsent("a/x")
		e.wantNoTemps()
	})
}

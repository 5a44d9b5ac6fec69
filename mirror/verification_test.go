package mirror_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

func verifying(o *mirror.Options) { o.Verify = true }

func TestVerifiedReadHealsADamagedBlockInsideTheRead(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(500_000)
		e.store("a/x", data)
		e.fetch("a/x")
		e.reopen() // no file is open
		e.damage(".x.obj", 200_000)
		for _, r := range []*objectstore.Range{objectstore.Bounded(0, 10), nil, objectstore.Bounded(199_990, 200_010), objectstore.Suffix(5)} {
			start, end, err := r.Resolve(int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.read("a/x", &objectstore.GetOptions{Range: r}); err != nil || got != data[start:end] {
				t.Errorf("%v: wrong bytes, %v", r, err)
			}
		}
		if s := e.h.Stats(); s.Heals != 1 || s.HealFailures != 0 || e.remote.count("get", "a/x") != 2 {
			t.Errorf("stats: %+v, %d GETs", s.Counters, e.remote.count("get", "a/x"))
		}
	})
}

// A read of many blocks at once finds damage in any of them, and the bytes of one
// that ends within a block are checked, too.
func TestALongVerifiedReadHealsDamageWhereverItIs(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(700_001)
		e.store("a/x", data)
		e.fetch("a/x")
		for _, at := range []int64{0, 65_535, 65_536, 400_000, 655_359, 700_000} {
			for _, bounds := range [][2]int64{{0, 700_001}, {at / 65_536 * 65_536, 700_001}, {1, at + 1}, {0, min(at+70_000, 700_001)}} {
				if at < bounds[0] {
					continue
				}
				e.reopen()
				e.damage(".x.obj", int(at))
				result, err := e.m.Get(e.Context(), "a/x", &objectstore.GetOptions{Range: objectstore.Bounded(bounds[0], bounds[1])})
				if err != nil {
					t.Fatal(err)
				}
				got := make([]byte, result.End-result.Start)
				_, err = io.ReadFull(result.Body, got)
				if err != nil || string(got) != data[result.Start:result.End] {
					t.Errorf("damage at %d, read of %v: %v", at, bounds, err)
				}
				if err := result.Body.Close(); err != nil {
					t.Error(err)
				}
				if s := e.h.Stats(); s.Heals != 1 || s.HealFailures != 0 {
					t.Errorf("damage at %d, read of %v: %+v", at, bounds, s.Counters)
				}
			}
		}
	})
}

func TestVerifiedReadOfAnUntouchedBlockDoesNotRefetch(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(500_000)
		e.put("a/x", data)
		e.damage(".x.obj", 0)
		if got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.From(70_000)}); err != nil || got != data[70_000:] {
			t.Errorf("read: %v", err)
		}
		if n := e.remote.count("get", "a/x"); n != 0 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestDamageIsNoticedByEveryReadNotOnlyTheFirst(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(500_000)
		e.store("a/x", data)
		e.fetch("a/x")
		small := func(off int64) {
			t.Helper()
			got, err := e.read("a/x", &objectstore.GetOptions{Range: objectstore.Bounded(off, off+100)})
			if err != nil || got != data[off:off+100] {
				t.Errorf("at %d: wrong bytes, %v", off, err)
			}
		}
		for heals, off := range []int64{5000, 8150, 70_000, 65_500, 499_900, 0} {
			small(off)
			small(off) // by the sums of the pieces
			e.damage(".x.obj", int(off)+50)
			small(off)
			if s := e.h.Stats(); s.Heals != int64(heals+1) {
				t.Errorf("%d: %d heals", off, s.Heals)
			}
		}
	})
}

func TestVerificationHealsWhatAPowerCutLeaves(t *testing.T) {
	for name, fate := range map[string]vfs.Fate{"zeroed": vfs.Zeroed, "empty": vfs.Empty, "cut": vfs.Cut} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t, verifying)
				e.open()
				data := big(200_000)
				e.put("a/x", data)
				e.put("a/empty", "")
				e.disk.CrashWith(func(name string) vfs.Fate {
					if e.remote.count("get", "") == 0 && len(name) > 4 && name[len(name)-6:] == ".x.obj" {
						return fate
					}
					return vfs.Kept
				})
				_ = e.m.Close() // the old process is dead; its errors don't matter
				e.open()
				e.policy.routeReads(mirror.ReadThrough)
				if got, err := e.read("a/x", nil); err != nil || got != data {
					t.Errorf("read: %v", err)
				}
				e.wantLocal("a/empty", "") // a real 0-byte object is kept
				if s := e.h.Stats(); (fate == vfs.Zeroed) != (s.Heals == 1) {
					t.Errorf("stats: %+v, startup %+v", s.Counters, s.Startup)
				}
				e.close()
			})
		})
	}
}

func Test500ReadersOfACorruptFileShareOneGET(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(300_000)
		e.store("a/x", data)
		e.fetch("a/x")
		e.damage(".x.obj", 100)
		gets := e.remote.count("get", "a/x")
		open := e.gateOn("get", "a/x")
		var readers sync.WaitGroup
		for i := range 500 {
			readers.Go(func() {
				options := &objectstore.GetOptions{}
				if i%2 == 0 {
					options.Range = objectstore.Bounded(0, 1000)
				}
				got, err := e.read("a/x", options)
				if err != nil || got != data[:len(got)] || len(got) < 1000 {
					t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
				}
			})
		}
		synctest.Wait()
		open(nil)
		readers.Wait()
		if n := e.remote.count("get", "a/x") - gets; n != 1 {
			t.Errorf("%d GETs", n)
		}
	})
}

func TestReadersThatFindTheDamageLaterUseTheHealedCopy(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		data := big(300_000)
		e.store("a/x", data)
		e.fetch("a/x")
		var bodies []io.ReadCloser
		for range 5 {
			result, err := e.m.Get(e.Context(), "a/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, result.Body)
		}
		e.damage(".x.obj", 250_000)
		for _, body := range bodies {
			if got, err := io.ReadAll(body); err != nil || string(got) != data {
				t.Errorf("read: %v", err)
			}
			if err := body.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := e.remote.count("get", "a/x"); n != 2 {
			t.Errorf("%d GETs", n)
		}
		if s := e.h.Stats(); s.OpenFiles > 5 {
			t.Errorf("%d files are open", s.OpenFiles)
		}
	})
}

func TestDamageThatCannotBeHealedIsAnErrorNotWrongBytes(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		e.put("a/x", big(100_000))
		e.unstore("a/x")
		e.damage(".x.obj", 5)
		got, err := e.read("a/x", nil)
		if !errors.Is(err, objectstore.ErrNotFound) || len(got) != 0 {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
		if s := e.h.Stats(); s.HealFailures != 1 || s.BusyPaths != 0 {
			t.Errorf("stats: %+v", s.Counters)
		}
	})
}

func TestHealEndsWithTheCallersContextAndWithClose(t *testing.T) {
	for name, end := range map[string]func(cancel context.CancelFunc, body io.Closer){
		"context": func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		"close":   func(_ context.CancelFunc, body io.Closer) { _ = body.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubbleWith(t, verifying, func(e *env) {
				e.put("a/x", big(100_000))
				e.damage(".x.obj", 5)
				e.gateOn("get", "a/x")
				ctx, cancel := context.WithCancel(e.Context())
				defer cancel()
				result, err := e.m.Get(ctx, "a/x", nil)
				if err != nil {
					t.Fatal(err)
				}
				done := background(func() error { _, err := io.ReadAll(result.Body); return err })
				if !pending(done) {
					t.Fatal("no heal")
				}
				end(cancel, result.Body)
				if err := <-done; err == nil {
					t.Error("read succeeded")
				}
				_ = result.Body.Close()
				synctest.Wait()
				if s := e.h.Stats(); s.BusyPaths != 0 {
					t.Errorf("stats: %+v", s)
				}
			})
		})
	}
}

// A process out of descriptors waits for one for seconds: not for a caller who
// has given up.
func TestHealThatWaitsForADescriptorEndsWithTheCallersContext(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		e.put("a/x", big(100_000))
		e.damage(".x.obj", 5)
		ctx, cancel := context.WithTimeout(e.Context(), 300*time.Millisecond)
		defer cancel()
		result, err := e.m.Get(ctx, "a/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer result.Body.Close()
		e.failOn(vfs.OpOpen, ".x.obj", syscall.EMFILE)
		began := time.Now()
		if _, err := io.ReadAll(result.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("read: %v", err)
		}
		if took := time.Since(began); took < 300*time.Millisecond || took > time.Second {
			t.Errorf("the read ended after %v", took)
		}
	})
}

func TestCopyWithoutChecksumsIsReplacedWhenVerificationIsOn(t *testing.T) {
	bubbleWith(t, verifying, func(e *env) {
		e.put("a/x", "bytes")
		e.close()
		if err := e.disk.Remove(dir + "/INDEX"); err != nil {
			t.Fatal(err)
		}
		e.open()
		e.disk.WriteFile(e.file(".x.obj.meta"), []byte("gone")) // after startup has read it
		e.wantLocal("a/x", "bytes")
		if s := e.h.Stats(); s.Heals != 1 {
			t.Errorf("stats: %+v", s.Counters)
		}
	})
}

func TestVerifiedBodiesAreNotSentByTheKernel(t *testing.T) {
	for _, verify := range []bool{false, true} {
		m, err := mirror.Open(t.Context(), t.TempDir(), newHookStore(), &hookPolicy{}, &mirror.Options{Verify: verify})
		if err != nil {
			t.Fatal(err)
		}
		data := big(100_000)
		if _, err := m.Put(t.Context(), "a/x", objectstore.Bytes([]byte(data)), nil); err != nil {
			t.Fatal(err)
		}
		result, err := m.Get(t.Context(), "a/x", &objectstore.GetOptions{Range: objectstore.Bounded(100, 200)})
		if err != nil {
			t.Fatal(err)
		}
		file, ok := result.Body.(objectstore.FileBody)
		if ok == verify {
			t.Errorf("verification %v: FileBody %v", verify, ok)
		}
		if ok {
			got := make([]byte, 100)
			if _, err := io.ReadFull(file.File(), got); err != nil || string(got) != data[100:200] {
				t.Errorf("file: %v", err)
			}
		}
		if err := errors.Join(result.Body.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestEachFileBodyHasAFileOfItsOwn(t *testing.T) {
	m, err := mirror.Open(t.Context(), t.TempDir(), newHookStore(), &hookPolicy{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Put(t.Context(), "a/x", objectstore.Bytes([]byte("0123456789")), nil); err != nil {
		t.Fatal(err)
	}
	var files []objectstore.FileBody
	for i := range 4 {
		result, err := m.Get(t.Context(), "a/x", &objectstore.GetOptions{Range: objectstore.From(int64(i))})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, result.Body.(objectstore.FileBody))
	}
	open := make([]io.Reader, len(files))
	for i, body := range files {
		open[i] = body.File()
	}
	for i := range files {
		if got, err := io.ReadAll(open[i]); err != nil || string(got) != "0123456789"[i:] {
			t.Errorf("%d: %q, %v", i, got, err)
		}
		if err := files[i].Close(); err != nil {
			t.Error(err)
		}
	}
	if n := m.Handle().Stats().OpenFiles; n != 4 {
		t.Errorf("%d files are kept open", n)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n := m.Handle().Stats().OpenFiles; n != 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

func TestVerifyNamesTheDamagedCopies(t *testing.T) {
	bubble(t, func(e *env) {
		e.put("a/bad", big(200_000))
		e.put("a/cut", big(200_000))
		e.put("a/empty", "")
		e.put("a/good", big(200_000))
		e.damage(".bad.obj", 150_000)
		e.disk.WriteFile(e.file(".cut.obj"), []byte(big(100_000)))
		var all []objectstore.Path
		for path, err := range e.m.Verify(e.Context()) {
			all = append(all, path)
			var failure *mirror.Local
			if bad := path == "a/bad" || path == "a/cut"; errors.As(err, &failure) != bad || (err != nil) != bad {
				t.Errorf("%s: %v", path, err)
			}
		}
		if len(all) != 4 || all[0] != "a/bad" || all[3] != "a/good" {
			t.Errorf("verified %v", all)
		}
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		n := 0
		for _, err := range e.m.Verify(ctx) {
			if n++; !errors.Is(err, context.Canceled) {
				t.Errorf("ended context: %v", err)
			}
		}
		if n != 1 {
			t.Errorf("yielded %d times", n)
		}
	})
}

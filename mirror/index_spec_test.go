package mirror_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func TestIndexIsWrittenInTheBackgroundAndAtClose(t *testing.T) {
	bubbleWith(t, func(o *mirror.Options) { o.IndexInterval = time.Minute }, func(e *env) {
		e.put("a/x", "bytes")
		if _, err := e.disk.ReadFile(dir + "/INDEX"); err == nil {
			t.Fatal("an index at once")
		}
		if err := (mirror.SystemClock{}).Sleep(e.Context(), 2*time.Minute); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := e.disk.ReadFile(dir + "/INDEX"); err != nil {
			t.Fatal(err)
		}
		e.put("a/y", "bytes")
		e.disk.Kill() // no Close: the index knows a/x only
		_ = e.m.Close()
		e.open()
		if s := e.h.Stats().Startup; s.Recovered != 2 || s.FromIndex != 1 {
			t.Errorf("startup: %+v", s)
		}
		e.wantLocal("a/x", "bytes")
		e.wantLocal("a/y", "bytes")
		e.reopen()
		if s := e.h.Stats().Startup; s.Recovered != 2 || s.FromIndex != 2 {
			t.Errorf("startup: %+v", s)
		}
	})
}

func TestStaleIndexNeitherHidesNorInventsACopy(t *testing.T) {
	bubble(t, func(e *env) {
		old, err := e.m.Put(e.Context(), "a/replaced", objectstore.Bytes([]byte("old..")), nil)
		if err != nil {
			t.Fatal(err)
		}
		e.put("a/evicted", "bytes")
		e.put("a/kept", "bytes")
		e.reopen()
		index, err := e.disk.ReadFile(dir + "/INDEX")
		if err != nil {
			t.Fatal(err)
		}
		now, err := e.m.Put(e.Context(), "a/replaced", objectstore.Bytes([]byte("new..")), nil)
		if err != nil {
			t.Fatal(err)
		}
		e.h.Evict("a/evicted")
		e.put("a/new", "bytes")
		synctest.Wait()
		e.close()
		e.disk.WriteFile(dir+"/INDEX", index)
		e.open()
		if s := e.h.Stats().Startup; s.Recovered != 3 || s.FromIndex != 1 || s.Invalid != 0 {
			t.Errorf("startup: %+v", s)
		}
		e.wantAbsent("a/evicted")
		e.wantLocal("a/kept", "bytes")
		e.wantLocal("a/new", "bytes")
		e.wantLocal("a/replaced", "new..")
		head, err := e.m.Get(e.Context(), "a/replaced", &objectstore.GetOptions{Head: true})
		if err != nil || head.Meta.ETag != now.ETag || now.ETag == old.ETag {
			t.Errorf("ETag %q, %v", head.Meta.ETag, err)
		}
	})
}

func TestDamagedIndexOnlyCostsTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	bubble(t, func(e *env) {
		for i := range 20 {
			e.put(objectstore.Path(fmt.Sprint("a/", i)), "bytes")
		}
		for range 30 {
			e.close()
			index, err := e.disk.ReadFile(dir + "/INDEX")
			if err != nil {
				t.Fatal(err)
			}
			switch random.IntN(3) {
			case 0:
				index[random.IntN(len(index))] ^= byte(1 + random.IntN(255))
			case 1:
				index = index[:random.IntN(len(index))]
			case 2:
				clear(index[random.IntN(len(index)):])
			}
			e.disk.WriteFile(dir+"/INDEX", index)
			e.open()
			if s := e.h.Stats(); s.Objects != 20 || s.Bytes != 100 || s.Startup.Invalid != 0 {
				t.Fatalf("stats: %+v", s)
			}
			e.put("a/0", "bytes") // so that a new index is written
		}
	})
}

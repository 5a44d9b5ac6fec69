package storetest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// racers is how many writers race for one path.
const racers = 32

var raceTests = []test{
	{"of create-only writes has one winner", func(e *env) {
		for round := range 4 {
			path := objectstore.Path(fmt.Sprintf("round/%d", round))
			winner := e.race(objectstore.ErrAlreadyExists, func(i int) error {
				_, err := e.store.Put(e.ctx(), path, objectstore.Bytes([]byte(pattern(i, 5000))), &objectstore.PutOptions{Mode: objectstore.Create})
				return err
			})
			e.holds(path, pattern(winner, 5000))
		}
		if err := objectstore.ProbeCreate(e.ctx(), e.store, "probe/dir"); err != nil {
			e.Fatalf("probe: %v", err)
		}
		if left := e.list(&objectstore.ListOptions{Prefix: "probe/"}); len(left) > 0 {
			e.Fatalf("the probe left %q", left)
		}
	}},
	{"of updates has one winner", func(e *env) {
		etag := e.put("object", "old").ETag
		for range 4 {
			var mu sync.Mutex
			var next string
			winner := e.race(objectstore.ErrPrecondition, func(i int) error {
				result, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte(etag+pattern(i, 5000))), &objectstore.PutOptions{
					Mode: objectstore.Update, UpdateVersion: objectstore.UpdateVersion{ETag: etag},
				})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					next = result.ETag
				}
				return err
			})
			e.holds("object", etag+pattern(winner, 5000))
			etag = next
		}
	}},
	{"of create-only multipart completes has one winner", func(e *env) {
		var uploads []objectstore.Upload
		for i := range racers {
			upload := e.begin("object", &objectstore.MultipartOptions{Mode: objectstore.Create})
			e.part(upload, 1, pattern(i, 100))
			uploads = append(uploads, upload)
		}
		winner := e.race(objectstore.ErrAlreadyExists, func(i int) error {
			_, err := uploads[i].Complete(e.ctx())
			return err
		})
		e.holds("object", pattern(winner, 100))
	}},
	{"of writers shows readers one version whole", testNoMix},
	{"of writers shows readers the attributes of the version", testNoMixOfAttributes},
	{"of writers to many paths loses nothing", func(e *env) {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for n := range 8 {
					path := objectstore.Path(fmt.Sprintf("shared/%d/%d", n, i))
					if _, err := e.store.Put(e.ctx(), path, objectstore.Bytes([]byte(path)), nil); err != nil {
						e.Errorf("put %q: %v", path, err)
					}
					if n%2 == 1 {
						if err := e.store.Delete(e.ctx(), path); err != nil {
							e.Errorf("delete %q: %v", path, err)
						}
					}
				}
			})
		}
		group.Wait()
		got := e.list(nil)
		if len(got) != 32 {
			e.Fatalf("%d objects are left, want 32: %q", len(got), got)
		}
		for _, path := range got {
			e.holds(objectstore.Path(path), path)
		}
	}},
	{"of parts of one upload loses nothing", func(e *env) {
		size := e.partSize()
		upload := e.begin("object", nil)
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				if err := upload.PutPart(e.ctx(), i+1, objectstore.Bytes([]byte(pattern(i, size)))); err != nil {
					e.Errorf("part %d: %v", i+1, err)
				}
			})
		}
		group.Wait()
		e.complete(upload)
		e.holds("object", pattern(0, size)+pattern(1, size)+pattern(2, size)+pattern(3, size))
	}},
}

// race runs fn for every racer at once and returns the one that succeeded. All
// others must fail with lost, or be told to try again.
func (e *env) race(lost error, fn func(i int) error) (winner int) {
	e.Helper()
	errs := make([]error, racers)
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	group.Wait()
	winner = -1
	for i, err := range errs {
		switch {
		case err == nil && winner >= 0:
			e.Fatalf("both %d and %d won", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, lost) && !objectstore.IsTransient(err):
			e.Errorf("racer %d: %v", i, err)
		}
	}
	if winner < 0 {
		e.Fatalf("nobody won: %v", errs[0])
	}
	return winner
}

// testNoMix overwrites one object with bodies of one repeated letter and of a
// length that goes with it, while readers look for anything else.
func testNoMix(e *env) {
	body := func(i int) string { return strings.Repeat(string(rune('a'+i)), 50_000+i*1000) }
	e.put("object", body(0))
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				result, err := e.store.Get(e.ctx(), "object", nil)
				if err != nil {
					e.Errorf("get: %v", err)
					return
				}
				data, err := io.ReadAll(result.Body)
				_ = result.Body.Close()
				if err != nil && e.mayFail(err) {
					continue
				}
				if err != nil {
					e.Errorf("read: %v", err)
					return
				}
				if want := body(int(data[0] - 'a')); string(data) != want || result.Meta.Size != int64(len(want)) {
					e.Errorf("read %s of size %d: a mix", brief(string(data)), result.Meta.Size)
					return
				}
			}
		})
	}
	for i := range 4 {
		writers.Go(func() {
			for n := range 10 {
				if _, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte(body((i+n)%20))), nil); err != nil {
					e.Errorf("put: %v", err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

// mayFail reports whether a read may fail like this because the object was
// replaced.
func (e *env) mayFail(err error) bool {
	return e.features.ReplacedReads && errors.Is(err, objectstore.ErrPrecondition)
}

// testNoMixOfAttributes overwrites one object with bytes that its attributes
// repeat, now and then without any, while readers compare the two.
func testNoMixOfAttributes(e *env) {
	write := func(i int) {
		text := fmt.Sprint(i)
		options := &objectstore.PutOptions{Attributes: objectstore.Attributes{ContentLanguage: text}}
		if i%3 == 0 {
			text, options = "", nil
		}
		if _, err := e.store.Put(e.ctx(), "object", objectstore.Bytes([]byte(text)), options); err != nil {
			e.Errorf("put: %v", err)
		}
	}
	write(1)
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				result, err := e.store.Get(e.ctx(), "object", nil)
				if err != nil {
					e.Errorf("get: %v", err)
					return
				}
				data, err := io.ReadAll(result.Body)
				_ = result.Body.Close()
				if err != nil && e.mayFail(err) {
					continue
				}
				if err != nil || string(data) != result.Attributes.ContentLanguage {
					e.Errorf("read %q with the attributes of %q, %v", data, result.Attributes.ContentLanguage, err)
					return
				}
			}
		})
	}
	for i := range 2 {
		writers.Go(func() {
			for n := range 30 {
				write(100*i + n)
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}

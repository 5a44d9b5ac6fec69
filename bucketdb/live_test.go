package bucketdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// never is a sleep that ends with its context only.
func never(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func openLive(t *testing.T, store objectstore.Store, options *LiveOptions) *DB {
	t.Helper()
	return openLiveAt(t, store, filepath.Join(fastDir(t), "live"), options)
}

func openLiveAt(t *testing.T, store objectstore.Store, path string, options *LiveOptions) *DB {
	t.Helper()
	var o LiveOptions
	if options != nil {
		o = *options
	}
	if o.Database == nil {
		o.Database = new(stardust.Options)
	}
	o.Database.Plugins = stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}
	if o.Sleep == nil {
		o.Sleep = never
	}
	db, err := Open(t.Context(), store, path, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	return db
}

func mustSync(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestAWriteIsInTheBucketBeforeItReturns of whatever kind, and the file is a replica
// that opens without the bucket, too.
func TestAWriteIsInTheBucketBeforeItReturns(t *testing.T) {
	store := newStore()
	path := filepath.Join(fastDir(t), "live")
	db := openLiveAt(t, store, path, nil)
	same := func() {
		t.Helper()
		clone := mustClone(t, store)
		mustEqual(t, db.DB, clone)
		clone.Close()
	}
	put(t, db.DB, "a", []byte("a"))
	same()
	fill(t, db.DB)
	put(t, db.DB, "several chunks", noise(5, 5<<20))
	same()
	if err := db.SetTag(t.Context(), "here", 1); err != nil {
		t.Fatal(err)
	}
	same()
	batches := len(pathsUnder(t, store, logPrefix))
	db.Close()
	// What is written without the bucket comes with the next Open.
	plain := openDB(t, path)
	put(t, plain, "without", []byte("w"))
	plain.Close()
	db = openLiveAt(t, store, path, nil)
	same()
	if now := len(pathsUnder(t, store, logPrefix)); now <= batches {
		t.Errorf("%d batches, there were %d", now, batches)
	}
	other := openLive(t, store, nil)
	mustEqual(t, db.DB, other.DB)
}

// TestSeveralWriteAtTheSameTime through stores that lose requests and answers: every
// write that returned is there once, one that is not known at most once, and all
// replicas are equal.
func TestSeveralWriteAtTheSameTime(t *testing.T) {
	const writers, each = 4, 8
	inner := newStore()
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	lossy := storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(path.String(), logPrefix) {
			return storetest.Fault{}
		}
		switch fate := random.Float64(); {
		case fate < 0.05 && op == objectstore.OpPut:
			return storetest.Fault{After: objectstore.Transient(errCut, 0)}
		case fate < 0.08:
			return storetest.Fault{Before: objectstore.Transient(errCut, 0)}
		}
		return storetest.Fault{}
	}})
	dbs := []*DB{openLive(t, inner, nil), openLive(t, inner, nil), openLive(t, inner, nil)}
	for _, db := range dbs {
		db.live.bucket.store = lossy
		db.live.bucket.again = func(ctx context.Context, _ int) bool { return ctx.Err() == nil } // at once
	}
	acked, unknown, failed := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	var work sync.WaitGroup
	for i, db := range dbs {
		for w := range writers {
			work.Go(func() {
				for n := range each {
					name := fmt.Sprintf("%d-%d-%d", i, w, n)
					_, err := db.Tree().Put(name, strings.NewReader("content of "+name), nil)
					var e *stardust.Error
					mu.Lock()
					switch {
					case err == nil:
						acked[name] = true
					case errors.As(err, &e) && e.Code == CodeNotWritten:
						failed[name] = true
					default: // of an upstream's, unknown at least for who cannot tell
						unknown[name] = true
					}
					mu.Unlock()
				}
			})
		}
	}
	work.Wait()
	for _, db := range dbs {
		db.live.bucket.store = inner
		mustSync(t, db)
	}
	for _, db := range dbs[1:] {
		mustEqual(t, dbs[0].DB, db.DB)
	}
	mustEqual(t, dbs[0].DB, mustClone(t, inner))
	for name := range acked {
		if got := content(t, dbs[0].DB, name); string(got) != "content of "+name {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name := range failed {
		if _, err := dbs[0].Tree().Lookup(0, name); !errors.Is(err, stardust.StatusNotFound) {
			t.Errorf("%s was said not to be written: %v", name, err)
		}
	}
	batches := len(pathsUnder(t, inner, logPrefix))
	t.Logf("%d writes returned, %d are unknown, %d failed, in %d batches", len(acked), len(unknown), len(failed), batches)
	if len(acked) < 2*writers*each {
		t.Error("few writes returned")
	}
}

// TestAWriteIsMadeAnewOnWhatOthersWrote and may be refused for it.
func TestAWriteIsMadeAnewOnWhatOthersWrote(t *testing.T) {
	store := newStore()
	one := openLive(t, store, nil)
	r := put(t, one.DB, "file", []byte("first"))
	var came []int64
	two := openLive(t, store, &LiveOptions{Changed: func(revision int64) { came = append(came, revision) }})
	theirs := put(t, one.DB, "file", []byte("second"))
	// Two does not know of it, and expects the first revision.
	digest := func(text string) stardust.Digest {
		upload, err := two.Tree().Upload()
		if err != nil {
			t.Fatal(err)
		}
		defer upload.Close()
		if _, err := upload.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		published, err := upload.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return published.Digest
	}
	if got := content(t, two.DB, "file"); string(got) != "first" {
		t.Errorf("before anything: %q", got)
	}
	_, err := two.Tree().Update(r.Entity, digest("third"), r.Revision)
	if !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("an update that expects what is gone: %v", err)
	}
	if len(came) != 1 || came[0] != theirs.Revision {
		t.Errorf("told of %v, want %d", came, theirs.Revision)
	}
	if got := content(t, two.DB, "file"); string(got) != "second" {
		t.Errorf("afterwards: %q", got)
	}
	if _, err := two.Tree().Update(r.Entity, digest("third"), theirs.Revision); err != nil {
		t.Error(err)
	}
	// The same content and different names at the same time.
	put(t, one.DB, "x", []byte("the same"))
	put(t, two.DB, "y", []byte("the same"))
	mustSync(t, one)
	mustSync(t, two)
	mustEqual(t, one.DB, two.DB)
}

// TestALookThatIsCutOffIsRepeated: another's batch is there first, and the answer to what
// is there is lost once. The write is made anew on it.
func TestALookThatIsCutOffIsRepeated(t *testing.T) {
	inner := newStore()
	one, two := openLive(t, inner, nil), openLive(t, inner, nil)
	var first, cut sync.Once
	two.live.bucket.store = storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) (fault storetest.Fault) {
		if strings.HasPrefix(path.String(), logPrefix) {
			if op == objectstore.OpPut {
				first.Do(func() { put(t, one.DB, "theirs", []byte("1")) })
			} else {
				cut.Do(func() { fault.Before = objectstore.Transient(errCut, 0) })
			}
		}
		return fault
	}})
	put(t, two.DB, "ours", []byte("2"))
	if got := content(t, two.DB, "theirs"); string(got) != "1" {
		t.Errorf("%q", got)
	}
	mustSync(t, one)
	mustEqual(t, one.DB, two.DB)
}

// TestWhatMayStillArriveIsNotSaidToBeRefused: the first request may be under way when the
// bucket refuses the second.
func TestWhatMayStillArriveIsNotSaidToBeRefused(t *testing.T) {
	inner := newStore()
	db := openLive(t, inner, nil)
	puts := 0
	db.live.bucket.store = storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op != objectstore.OpPut || !strings.HasPrefix(path.String(), logPrefix) {
			return storetest.Fault{}
		}
		if puts++; puts == 1 {
			return storetest.Fault{Before: objectstore.Transient(errCut, 0)}
		}
		return storetest.Fault{Before: objectstore.ErrPermissionDenied}
	}})
	_, err := db.Tree().Put("a", strings.NewReader("1"), nil)
	var e *stardust.Error
	if !errors.As(err, &e) || e.Code != CodeUnknownOutcome || puts != 2 {
		t.Errorf("after %d requests: %v", puts, err)
	}
}

// TestAnUnknownOutcomeShowsLater loses the answer to a batch and every look at it: the
// write is not said to have failed, and the next one finds it.
func TestAnUnknownOutcomeShowsLater(t *testing.T) {
	for _, arrived := range []bool{true, false} {
		inner := newStore()
		db := openLive(t, inner, &LiveOptions{Timeout: 100 * time.Millisecond})
		put(t, db.DB, "first", []byte("1"))
		db.live.bucket.store = storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
			switch {
			case !strings.HasPrefix(path.String(), logPrefix):
				return storetest.Fault{}
			case op == objectstore.OpPut && arrived:
				return storetest.Fault{After: objectstore.Transient(errCut, 0)}
			}
			return storetest.Fault{Before: objectstore.Transient(errCut, 0)}
		}})
		_, err := db.Tree().Put("second", strings.NewReader("2"), nil)
		var e *stardust.Error
		if !errors.As(err, &e) || e.Code != CodeUnknownOutcome || !errors.Is(err, stardust.StatusIO) {
			t.Fatalf("%v", err)
		}
		db.live.bucket.store = inner
		put(t, db.DB, "third", []byte("3"))
		_, err = db.Tree().Lookup(0, "second")
		if (err == nil) != arrived {
			t.Errorf("arrived %v: %v", arrived, err)
		}
		if arrived && string(content(t, db.DB, "second")) != "2" {
			t.Error("wrong content")
		}
		mustEqual(t, db.DB, mustClone(t, inner))
	}
}

// TestAWriteThatIsNotTakenChangesNothing where the bucket refuses it.
func TestAWriteThatIsNotTakenChangesNothing(t *testing.T) {
	inner := newStore()
	db := openLive(t, inner, nil)
	put(t, db.DB, "first", []byte("1"))
	for _, prefix := range []string{logPrefix, packPrefix} {
		db.live.bucket.store = storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
			if op == objectstore.OpPut && strings.HasPrefix(path.String(), prefix) {
				return storetest.Fault{Before: objectstore.ErrPermissionDenied}
			}
			return storetest.Fault{}
		}})
		_, err := db.Tree().Put("second", strings.NewReader("2 "+prefix), nil)
		var e *stardust.Error
		if !errors.As(err, &e) || e.Code != CodeNotWritten || !strings.Contains(err.Error(), "rights to read, list and create") {
			t.Errorf("%s: %v", prefix, err)
		}
		if _, err := db.Tree().Lookup(0, "second"); !errors.Is(err, stardust.StatusNotFound) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	db.live.bucket.store = inner
	put(t, db.DB, "second", []byte("2"))
	mustEqual(t, db.DB, mustClone(t, inner))
}

// TestWritesThatWaitShareABatch holds up one batch while many callers come.
func TestWritesThatWaitShareABatch(t *testing.T) {
	inner := newStore()
	db := openLive(t, inner, nil)
	put(t, db.DB, "first", []byte("1"))
	before := len(pathsUnder(t, inner, logPrefix))
	const callers = 60
	held, waiting := make(chan struct{}), make(chan struct{}, callers)
	var once sync.Once
	db.live.bucket.store = storetest.Faulty(inner, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpPut && strings.HasPrefix(path.String(), logPrefix) {
			once.Do(func() { <-held })
		}
		return storetest.Fault{}
	}})
	var work sync.WaitGroup
	for i := range callers {
		work.Go(func() {
			waiting <- struct{}{}
			if _, err := db.Tree().Create(stardust.NewNode{Name: fmt.Sprintf("d%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	for range callers {
		<-waiting
	}
	close(held)
	work.Wait()
	if batches := len(pathsUnder(t, inner, logPrefix)) - before; batches > callers/2 {
		t.Errorf("%d writes took %d batches", callers, batches)
	}
	mustEqual(t, db.DB, mustClone(t, inner))
}

// TestPollingBacksOff while nothing comes, and tells when something does.
func TestPollingBacksOff(t *testing.T) {
	store := newStore()
	one := openLive(t, store, nil)
	var waits []time.Duration
	var came []int64
	done := make(chan struct{})
	written := int64(0)
	two := openLive(t, store, &LiveOptions{
		Every:   time.Second,
		Changed: func(revision int64) { came = append(came, revision) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			if waits = append(waits, d); len(waits) == 7 {
				written = put(t, one.DB, "new", []byte("n")).Revision
			}
			if len(waits) == 9 {
				close(done)
				return never(ctx, d)
			}
			return nil
		},
	})
	<-done
	if want := "[1s 2s 4s 8s 10s 10s 10s 1s 2s]"; fmt.Sprint(waits) != want {
		t.Errorf("waits %v, want %s", waits, want)
	}
	if fmt.Sprint(came) != fmt.Sprint([]int64{written}) {
		t.Errorf("told of %v, want %d", came, written)
	}
	mustEqual(t, one.DB, two.DB)
}

// TestALiveDatabaseForgetsNothing since the bucket has it all.
func TestALiveDatabaseForgetsNothing(t *testing.T) {
	db := openLive(t, newStore(), nil)
	put(t, db.DB, "file", []byte("1"))
	put(t, db.DB, "file", []byte("2"))
	if _, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 1}); err == nil || !strings.Contains(err.Error(), "keeps its whole history") {
		t.Errorf("%v", err)
	}
	put(t, db.DB, "file", []byte("3"))
}

// TestOpenSaysWhatHinders: histories that have diverged, another database, a file that
// is read-only.
func TestOpenSaysWhatHinders(t *testing.T) {
	store := newStore()
	db := newDB(t)
	put(t, db, "a", []byte("a"))
	mustPush(t, db, store)
	path := filepath.Join(fastDir(t), "db")
	stranger := openDB(t, path)
	put(t, stranger, "b", []byte("b"))
	stranger.Close()
	if _, err := Open(t.Context(), store, path, nil); !errors.Is(err, ErrDiverged) {
		t.Errorf("%v", err)
	}
	if _, err := Open(t.Context(), store, path, &LiveOptions{Database: &stardust.Options{ReadOnly: true}}); err == nil {
		t.Error("opened read-only")
	}
	openDB(t, path) // it is not locked
}

// TestUploadsThatHoldAllMemoryAreWritten: those who wait for the bucket have all of the
// database's budget, and so have followers that bring content of several chunks.
func TestUploadsThatHoldAllMemoryAreWritten(t *testing.T) {
	store := newStore()
	small := func() *LiveOptions {
		return &LiveOptions{Database: &stardust.Options{MemoryBudget: 16 << 20}}
	}
	one, two := openLive(t, store, small()), openLive(t, store, small())
	var work sync.WaitGroup
	for i, db := range []*DB{one, two} {
		for w := range 2 {
			work.Go(func() {
				if _, err := db.Tree().Put(fmt.Sprintf("%d-%d", i, w), bytes.NewReader(noise(uint64(10*i+w), 3<<20)), nil); err != nil {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	mustSync(t, one)
	mustSync(t, two)
	mustEqual(t, one.DB, two.DB)
}

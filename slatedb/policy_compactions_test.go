package slatedb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stardustdb/stardust/internal/logtest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

// job returns a compaction with one subcompaction for each list of outputs.
func job(status slatedb.CompactionStatus, segment string, ranges ...[]byte) slatedb.Compaction {
	c := slatedb.Compaction{Status: status, Spec: slatedb.CompactionSpec{Kind: slatedb.SpecTiered, Segment: []byte(segment)}}
	for _, outputs := range ranges {
		sub := slatedb.Subcompaction{Range: slatedb.KeyRange{Start: slatedb.Bound{Kind: slatedb.Unbounded}, End: slatedb.Bound{Kind: slatedb.Unbounded}}}
		sub.Outputs = outputSSTs(outputs)
		c.Subcompactions = append(c.Subcompactions, sub)
	}
	return c
}

// plainJob returns a compaction without subcompactions.
func plainJob(status slatedb.CompactionStatus, outputs ...byte) slatedb.Compaction {
	c := job(status, "")
	c.Outputs = outputSSTs(outputs)
	return c
}

func outputSSTs(numbers []byte) []slatedb.SST {
	var ssts []slatedb.SST
	for _, n := range numbers {
		ssts = append(ssts, slatedb.SST{ID: sstID(n), FormatVersion: 1})
	}
	return ssts
}

func putCompactions(t *testing.T, store objectstore.Store, id uint64, version uint16, jobs ...slatedb.Compaction) {
	t.Helper()
	put(t, store, string(slatedb.CompactionsPath("db", id)),
		slatetest.EncodeCompactions(&slatedb.Compactions{FormatVersion: version, Recent: jobs}))
}

func (n *node) mustReadCompactions(id uint64) {
	n.t.Helper()
	if err := n.read(slatedb.CompactionsPath("db", id)); err != nil {
		n.t.Fatal(err)
	}
}

func TestTheLastOutputOfEachRangeOfAScheduledCompactionIsLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3, 4, 5, 6, 7, 8)
		putCompactions(t, remote, 1, 2,
			job(slatedb.StatusScheduled, "", []byte{1, 2}, []byte{3}, nil),
			job(slatedb.StatusRunning, "", []byte{4}), job(slatedb.StatusCompacted, "", []byte{5}),
			job(slatedb.StatusCompleted, "", []byte{6}), job(slatedb.StatusFailed, "", []byte{7}))
		n := newNode(t, remote, plainPolicy())
		n.mustReadCompactions(1)
		n.requireLocal(map[byte]bool{1: false, 2: true, 3: true, 4: false, 5: false, 6: false, 7: false})

		// Writes are observed too.
		putCompactions(t, n, 2, 2, plainJob(slatedb.StatusScheduled, 7, 8))
		n.requireLocal(map[byte]bool{7: false, 8: true})
	})
}

func TestVersion1CompactionsAreResumedFromSubmittedAndRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3, 4, 5)
		putCompactions(t, remote, 1, 1, plainJob(slatedb.StatusRunning, 1, 2), plainJob(slatedb.StatusSubmitted, 3),
			plainJob(slatedb.StatusCompleted, 4), plainJob(slatedb.StatusFailed, 5))
		n := newNode(t, remote, plainPolicy())
		n.mustReadCompactions(1)
		n.requireLocal(map[byte]bool{1: false, 2: true, 3: true, 4: false, 5: false})
	})
}

func TestObservedCompactionsRetainAndEvictNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, plainPolicy())
		putManifest(t, n, l0(1, 1))
		putCompactions(t, n, 1, 2, plainJob(slatedb.StatusScheduled, 2))
		synctest.Wait()
		equal(t, "retained", n.policy.Status().Retained, 1)
		n.requireLocal(map[byte]bool{1: true, 2: true})
		// Not retained, so not the manifest's to evict either.
		putManifest(t, n, l0(2, 1))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: true, 2: true})
	})
}

func TestAFailedDownloadOfACompactionsOutputIsLoggedAndNotReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		var log logtest.Log
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, Logger: log.Logger(nil)}))
		putCompactions(t, n, 1, 2, plainJob(slatedb.StatusScheduled, 1))
		n.mustReadCompactions(1)
		for _, want := range []string{"db/compactions/00000000000000000001.compactions", string(sstPath("db", 1)), objectstore.ErrNotFound.Error()} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q: %s", want, log.String())
			}
		}
	})
}

func TestCompactionsThatCannotBeDecodedAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		var log logtest.Log
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, Logger: log.Logger(nil)}))
		put(t, n, string(slatedb.CompactionsPath("db", 1)), []byte("\x00\x09"))
		if !strings.Contains(log.String(), "unsupported format version 9") {
			t.Error(log.String())
		}
	})
}

func TestThePollDownloadsTheOutputOfActiveCompactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		n := newNode(t, remote, slatedb.NewPolicy(nil))
		putManifest(t, remote, l0(1, 9))
		putCompactions(t, remote, 1, 2, plainJob(slatedb.StatusRunning, 1))

		// The root is not known yet.
		sleepFor(time.Minute)
		n.requireLocal(map[byte]bool{1: false})

		n.mustRead(1)
		synctest.Wait() // the first poll comes at once
		n.requireLocal(map[byte]bool{1: true})

		putCompactions(t, remote, 2, 2,
			job(slatedb.StatusRunning, "", []byte{1, 2}, []byte{3}), plainJob(slatedb.StatusCompacted, 4),
			plainJob(slatedb.StatusSubmitted, 5), plainJob(slatedb.StatusScheduled, 6),
			plainJob(slatedb.StatusCompleted, 7), plainJob(slatedb.StatusFailed, 8))
		sleepFor(slatedb.DefaultCompactionsPollInterval - time.Millisecond)
		n.requireLocal(map[byte]bool{2: false})
		sleepFor(2 * time.Millisecond)
		n.requireLocal(map[byte]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: false, 8: false})
		equal(t, "retained", n.policy.Status().Retained, 1)
	})
}

func TestThePollTriesAFailedDownloadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{CompactionsPollInterval: time.Second, Root: new(objectstore.Path("db"))}))
		putCompactions(t, remote, 1, 2, plainJob(slatedb.StatusRunning, 1))
		sleepFor(1500 * time.Millisecond)
		n.requireLocal(map[byte]bool{1: false})
		putSSTs(t, remote, 1)
		sleepFor(time.Second)
		n.requireLocal(map[byte]bool{1: true})
		// The object itself has not changed, so it was read once.
		equal(t, "reads of .compactions", remote.getsOf(slatedb.CompactionsPath("db", 1)), 1)
	})
}

func TestThePollOutlivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		var log logtest.Log
		putSSTs(t, remote, 1)
		put(t, remote, string(slatedb.CompactionsPath("db", 1)), []byte("\x00\x07"))
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{CompactionsPollInterval: time.Second, Root: new(objectstore.Path("db")), Logger: log.Logger(nil)}))
		sleepFor(1500 * time.Millisecond)
		remote.intercept(func(context.Context, objectstore.Path) error { return errRemote })
		putCompactions(t, remote, 2, 2, plainJob(slatedb.StatusRunning, 1))
		sleepFor(time.Second)
		n.requireLocal(map[byte]bool{1: false})
		remote.intercept(nil)
		sleepFor(time.Second)
		n.requireLocal(map[byte]bool{1: true})
		for _, want := range []string{"unsupported format version 7", errRemote.Error()} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q: %s", want, log.String())
			}
		}
	})
}

func TestWithoutPollNothingIsPrefetched(t *testing.T) {
	for name, options := range map[string]*slatedb.PolicyOptions{
		"without":          {WithoutCompactionsPoll: true},
		"with an interval": {WithoutCompactionsPoll: true, CompactionsPollInterval: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remote := newRemote()
				putSSTs(t, remote, 1)
				putCompactions(t, remote, 1, 2, plainJob(slatedb.StatusRunning, 1))
				options.Root = new(objectstore.Path("db"))
				n := newNode(t, remote, slatedb.NewPolicy(options))
				sleepFor(time.Hour)
				n.requireLocal(map[byte]bool{1: false})
			})
		})
	}
}

func TestClosingTheMirrorEndsThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// synctest fails the test if a goroutine were left: one policy waits
		// for its root, the other for its next poll.
		for _, options := range []*slatedb.PolicyOptions{nil, {Root: new(objectstore.Path("db"))}} {
			n := newNode(t, newRemote(), slatedb.NewPolicy(options))
			synctest.Wait()
			if err := n.Close(); err != nil && !errors.Is(err, objectstore.ErrClosed) {
				t.Error(err)
			}
		}
	})
}

package slatedb_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

var errRemote = errors.New("the remote refuses")

func TestAManifestIsReadOnceItsSSTsAreLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		putManifest(t, remote, l0(1, 1, 2))
		n := newNode(t, remote, plainPolicy())
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true, 2: true, 3: false})
		equal(t, "downloads of SST 1", remote.getsOf(sstPath("db", 1)), 1)
		n.mustRead(1)
		equal(t, "downloads of SST 1 after another read", remote.getsOf(sstPath("db", 1)), 1)
	})
}

func TestAManifestIsWrittenOnceItsSSTsAreLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		n := newNode(t, remote, plainPolicy())
		putSSTs(t, remote, 1) // written by another node
		mine := sstPath("db", 2)
		_, err := n.Put(t.Context(), mine, objectstore.Bytes(contents(string(mine), sstSize)),
			&objectstore.PutOptions{Mode: objectstore.Create, Extensions: tagged(compactedTag)})
		if err != nil {
			t.Fatal(err)
		}
		putManifest(t, n, l0(1, 1, 2))
		n.requireLocal(map[byte]bool{1: true, 2: true})
		equal(t, "downloads of its own SST", remote.getsOf(mine), 0)
	})
}

func TestEveryTreeOfAManifestIsWarmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3, 4)
		view := func(n byte) []slatedb.SSTView { return l0(0, n).Root.L0 }
		m := l0(1, 1)
		m.FormatVersion = 2
		m.Root.SortedRuns = []slatedb.SortedRun{{ID: 1, SSTs: view(2)}}
		m.Segments = []slatedb.Segment{{Prefix: []byte("s"), Tree: slatedb.Tree{L0: view(3), SortedRuns: []slatedb.SortedRun{{SSTs: view(4)}}}}}
		putManifest(t, remote, m)
		n := newNode(t, remote, plainPolicy())
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true, 2: true, 3: true, 4: true})
	})
}

func TestExternalSSTsComeFromTheirOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1)
		theirs := sstPath("parent/db", 2)
		putSST(t, remote, theirs)
		m := l0(1, 1, 2)
		m.ExternalDBs = []slatedb.ExternalDB{{Path: "parent/db", SSTIDs: []ulid.ULID{sstID(2), sstID(3)}}}
		putManifest(t, remote, m)
		n := newNode(t, remote, plainPolicy())
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true})
		if err := n.readSST(theirs, compactedTag); err != nil {
			t.Error(err)
		}
		equal(t, "downloads of an external SST that no tree shows", remote.getsOf(sstPath("parent/db", 3)), 0)

		// The clone drops its parent.
		putManifest(t, n, l0(2, 1))
		synctest.Wait()
		equal(t, "external SST is local", n.Handle().Contains(theirs), false)
	})
}

func TestANewerManifestEvictsWhatItNoLongerRetains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		n := newNode(t, remote, plainPolicy())
		putManifest(t, n, l0(1, 1, 2))
		putManifest(t, n, l0(2, 2, 3))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: false, 2: true, 3: true})
		equal(t, "retained", n.policy.Status().Retained, 2)
		equal(t, "downloads of SST 2", remote.getsOf(sstPath("db", 2)), 1)
	})
}

func TestAnOlderManifestWarmsOnlyWhatIsRetainedAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		putManifest(t, remote, l0(1, 1, 2))
		putManifest(t, remote, l0(2, 2, 3))
		n := newNode(t, remote, plainPolicy())
		n.mustRead(2)
		n.Handle().Evict(sstPath("db", 2)) // lost for some reason
		synctest.Wait()
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: false, 2: true, 3: true})
		equal(t, "newest manifest", n.policy.Status().ManifestID, 2)
		// Nor does it bring eviction back: 3 is still retained.
		synctest.Wait()
		n.requireLocal(map[byte]bool{3: true})
	})
}

func TestSSTsOfCheckpointsAreRetainedButNotDownloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		putManifest(t, remote, l0(1, 1, 2))
		putManifest(t, remote, checkpointed(l0(2, 3), 1))
		n := newNode(t, remote, plainPolicy())
		n.mustRead(2)
		n.requireLocal(map[byte]bool{1: false, 2: false, 3: true})
		equal(t, "retained", n.policy.Status().Retained, 3)

		// A reader opens the checkpoint: it reads its manifest first.
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true, 2: true, 3: true})

		// They stay until the checkpoint goes.
		putManifest(t, n, checkpointed(l0(3, 3), 1))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: true, 2: true})
		putManifest(t, n, l0(4, 3))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: false, 2: false, 3: true})
	})
}

func TestAnExpiredCheckpointRetainsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &fixedClock{now: time.Unix(1000, 0)}
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, Clock: clock}))
		putManifest(t, n, l0(1, 1))
		with := func(id uint64) *slatedb.Manifest {
			m := checkpointed(l0(id, 2), 1)
			m.Checkpoints[0].ExpireTime = time.Unix(2000, 0)
			return m
		}
		putManifest(t, n, with(2))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: true, 2: true})
		clock.set(time.Unix(2001, 0))
		putManifest(t, n, with(3))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: false, 2: true})
		equal(t, "checkpoints", n.policy.Status().Checkpoints, 0)
	})
}

func TestCheckpointManifestsAreReadOnceAndForgottenWithTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		putManifest(t, remote, l0(1, 1))
		n := newNode(t, remote, plainPolicy())
		checkpoint := slatedb.ManifestPath("db", 1)
		for id := uint64(2); id < 5; id++ {
			putManifest(t, n, checkpointed(l0(id, 2), 1, 1)) // two on one manifest
		}
		equal(t, "reads of the checkpoint's manifest", remote.getsOf(checkpoint), 1)
		equal(t, "checkpoints", n.policy.Status().Checkpoints, 1)
		putManifest(t, n, l0(5, 2))
		equal(t, "checkpoints", n.policy.Status().Checkpoints, 0)
		putManifest(t, n, checkpointed(l0(6, 2), 1))
		equal(t, "reads of the checkpoint's manifest", remote.getsOf(checkpoint), 2)
	})
}

func TestACheckpointOfTheManifestItselfNeedsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, plainPolicy())
		putManifest(t, n, checkpointed(l0(1, 1), 1))
		putManifest(t, n, checkpointed(l0(2, 2), 1))
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: true, 2: true})
		equal(t, "reads", remote.getsOf(slatedb.ManifestPath("db", 1)), 0)
	})
}

func TestACheckpointWhoseManifestIsGoneRetainsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1)
		putManifest(t, remote, checkpointed(l0(2, 1), 1))
		n := newNode(t, remote, plainPolicy())
		n.mustRead(2)
		n.requireLocal(map[byte]bool{1: true})
	})
}

func TestACheckpointManifestThatCannotBeReadIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		putManifest(t, remote, l0(1, 1))
		putManifest(t, remote, checkpointed(l0(2, 2), 1))
		checkpoint := slatedb.ManifestPath("db", 1)
		remote.intercept(func(_ context.Context, path objectstore.Path) error {
			if path == checkpoint {
				return errRemote
			}
			return nil
		})
		n := newNode(t, remote, plainPolicy())
		if err := n.readManifest(2); !errors.Is(err, errRemote) || !strings.Contains(err.Error(), string(checkpoint)) {
			t.Error(err)
		}
		equal(t, "newest manifest", n.policy.Status().ManifestID, 0)
		// The caller repeats the read.
		remote.intercept(nil)
		n.mustRead(2)
		n.requireLocal(map[byte]bool{2: true})

		put(t, remote, string(slatedb.ManifestPath("db", 3)), []byte("\x00\x01"))
		putManifest(t, remote, checkpointed(l0(4, 2), 3))
		_, isDecode := errors.AsType[*slatedb.DecodeError](n.readManifest(4))
		equal(t, "damaged checkpoint manifest is a DecodeError", isDecode, true)
	})
}

func TestTheLockIsNotHeldWhileACheckpointIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3, 4)
		putManifest(t, remote, l0(1, 1))
		putManifest(t, remote, checkpointed(l0(2, 2, 4), 1))
		putManifest(t, remote, l0(3, 3, 4))
		release := make(chan struct{})
		remote.intercept(func(_ context.Context, path objectstore.Path) error {
			if path == slatedb.ManifestPath("db", 1) {
				<-release
			}
			return nil
		})
		n := newNode(t, remote, plainPolicy())
		second := make(chan error, 1)
		go func() { second <- n.readManifest(2) }()
		synctest.Wait() // 2 hangs in step 3

		n.mustRead(3) // overtakes it
		equal(t, "newest manifest", n.policy.Status().ManifestID, 3)

		close(release)
		if err := <-second; err != nil {
			t.Fatal(err)
		}
		// Manifest 2 found itself overtaken: it moved nothing and downloaded
		// only what 3 retains.
		synctest.Wait()
		status := n.policy.Status()
		equal(t, "newest manifest", status.ManifestID, 3)
		equal(t, "checkpoints", status.Checkpoints, 0)
		n.requireLocal(map[byte]bool{1: false, 2: false, 3: true, 4: true})
	})
}

func TestAnEvictionCannotUndoALaterManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, plainPolicy())
		for id := uint64(1); id < 40; id++ {
			// 1 comes and goes, and is there whenever a manifest says so.
			if id%2 == 1 {
				putManifest(t, n, l0(id, 1, 2))
				n.requireLocal(map[byte]bool{1: true, 2: true})
			} else {
				putManifest(t, n, l0(id, 2))
			}
		}
	})
}

func TestRacingManifestsLeaveTheNewestInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		const count = 20
		var all []byte
		for i := byte(1); i <= count+1; i++ {
			all = append(all, i)
		}
		putSSTs(t, remote, all...)
		for id := byte(1); id <= count; id++ {
			putManifest(t, remote, l0(uint64(id), id, id+1))
		}
		n := newNode(t, remote, plainPolicy())
		results := make(chan error)
		for id := uint64(1); id <= count; id++ {
			go func() { results <- n.readManifest(id) }()
		}
		for range count {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		equal(t, "newest manifest", n.policy.Status().ManifestID, count)
		n.requireLocal(map[byte]bool{count: true, count + 1: true})
	})
}

func TestAFailedDownloadFailsTheReadAndARepetitionRunsObserveAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1)
		putManifest(t, remote, l0(1, 1, 2))
		n := newNode(t, remote, plainPolicy())
		err := n.readManifest(1)
		if !errors.Is(err, objectstore.ErrNotFound) || !strings.Contains(err.Error(), string(sstPath("db", 2))) {
			t.Error(err)
		}
		if _, ok := errors.AsType[*mirror.PolicyError](err); !ok || !objectstore.IsNonRetryable(err) {
			t.Errorf("not a non-retryable PolicyError: %v", err)
		}
		putSSTs(t, remote, 2)
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true, 2: true})
	})
}

func TestAFailedDownloadAfterAWriteSaysThatItWasCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		n := newNode(t, remote, plainPolicy())
		path := slatedb.ManifestPath("db", 1)
		_, err := n.Put(t.Context(), path, objectstore.Bytes(slatetest.EncodeManifest(l0(1, 1))), nil)
		if committed, ok := errors.AsType[*mirror.WriteCommitted](err); !ok || committed.Path != path {
			t.Error(err)
		}
		if _, err := objectstore.Head(t.Context(), remote, path); err != nil {
			t.Error(err)
		}
	})
}

func TestAManifestThatCannotBeDecodedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		n := newNode(t, remote, plainPolicy())
		for id, data := range []string{"", "\x00", "\x00\x01", "\x00\x02junk", "\x00\x03junk"} {
			put(t, remote, string(slatedb.ManifestPath("db", uint64(id))), []byte(data))
			err := n.readManifest(uint64(id))
			if bad, ok := errors.AsType[*slatedb.DecodeError](err); !ok || bad.Object != "manifest" {
				t.Errorf("%q: %v", data, err)
			}
		}
		if err := n.readManifest(4); !errors.Is(err, slatedb.ErrUnsupportedVersion) {
			t.Error(err)
		}
		equal(t, "newest manifest", n.policy.Status().ManifestID, 0)
	})
}

func TestTheFileNameIsTheManifestsID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		n := newNode(t, remote, plainPolicy())
		putManifest(t, n, l0(41))
		putManifest(t, n, l0(42))
		equal(t, "newest manifest", n.policy.Status().ManifestID, 42)
	})
}

func TestTheFirstObjectReadRecordsTheRoot(t *testing.T) {
	for name, first := range map[string]objectstore.Path{
		"manifest": slatedb.ManifestPath("db", 1), "compactions": slatedb.CompactionsPath("db", 1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remote := newRemote()
				for _, root := range []objectstore.Path{"db", "other"} {
					put(t, remote, string(slatedb.ManifestPath(root, 1)), slatetest.EncodeManifest(l0(1)))
					put(t, remote, string(slatedb.CompactionsPath(root, 1)), slatetest.EncodeCompactions(&slatedb.Compactions{FormatVersion: 1}))
				}
				n := newNode(t, remote, plainPolicy())
				// What is not there is nobody's root.
				if err := n.read(slatedb.ManifestPath("typo", 1)); !errors.Is(err, objectstore.ErrNotFound) {
					t.Fatal(err)
				}
				if err := n.read(first); err != nil {
					t.Fatal(err)
				}
				equal(t, "root", n.policy.Status().Root, "db")
				for _, path := range []objectstore.Path{slatedb.ManifestPath("other", 1), slatedb.CompactionsPath("other", 1)} {
					err := n.read(path)
					if _, ok := errors.AsType[*mirror.PolicyError](err); !ok || !errors.Is(err, slatedb.ErrOtherRoot) {
						t.Errorf("read %q: %v", path, err)
					}
					if _, err = n.Put(t.Context(), path, objectstore.Bytes(nil), nil); !errors.Is(err, slatedb.ErrOtherRoot) {
						t.Errorf("put %q: %v", path, err)
					}
				}
				data, _, err := objectstore.ReadAll(t.Context(), remote, slatedb.ManifestPath("other", 1))
				if err != nil || len(data) == 0 {
					t.Errorf("the refused put changed the remote: %q, %v", data, err)
				}
			})
		})
	}
}

func TestARetryRepairsADamagedCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1)
		n := newNode(t, remote, plainPolicy())
		putManifest(t, n, l0(1, 1))
		before := remote.getsOf(sstPath("db", 1))
		if err := n.readSST(sstPath("db", 1), retried(compactedTag)); err != nil {
			t.Fatal(err)
		}
		equal(t, "downloads", remote.getsOf(sstPath("db", 1)), before+1)
	})
}

func TestFixturesAreServedLocallyFromEveryManifest(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Set+"/"+f.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &fixedClock{now: f.ReferenceTime}
				remote := fixtureStore(t, f.Set)
				n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, Clock: clock}))
				// Some of the oldest manifests' SSTs were collected since.
				for _, want := range f.Expected.Manifests {
					path := slatedb.ManifestPath(f.Root(), want.ID)
					if err := n.read(path); err != nil {
						t.Fatal(err)
					}
					m, err := slatedb.ReadManifest(t.Context(), remote, f.Root(), want.ID)
					if err != nil {
						t.Fatal(err)
					}
					resolver := m.Resolver(f.Root())
					for _, id := range m.SSTs() {
						if !n.Handle().Contains(resolver.SSTPath(id)) {
							t.Errorf("manifest %d: SST %v is not local", want.ID, id)
						}
					}
				}
			})
		})
	}
}

package slatedb_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// segmented returns a manifest with segments; the SSTs under "" are the root's.
func segmented(id uint64, segments map[string][]byte) *slatedb.Manifest {
	m := l0(id, segments[""]...)
	m.FormatVersion = 2
	for prefix, numbers := range segments {
		if prefix != "" {
			m.Segments = append(m.Segments, slatedb.Segment{Prefix: []byte(prefix), Tree: l0(0, numbers...).Root})
		}
	}
	return m
}

// choice is a predicate that a test can change. It notes the manifests that it
// was called with.
type choice struct {
	mu        sync.Mutex
	selected  []string
	manifests []uint64
}

func choose(segments ...string) *choice { return &choice{selected: segments} }

func (c *choice) selects(m *slatedb.Manifest, segment []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manifests = append(c.manifests, m.ID)
	return slices.Contains(c.selected, string(segment))
}

func (c *choice) set(segments ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.selected = segments
}

// seen returns the manifests that the predicate was called with since the last
// call of seen.
func (c *choice) seen() []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.manifests
	c.manifests = nil
	slices.Sort(seen)
	return slices.Compact(seen)
}

func (c *choice) policy() *slatedb.Policy {
	return slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, SegmentPredicate: c.selects})
}

// requireHeld checks which of the SSTs of "db" are local, whatever their routes.
func (n *node) requireHeld(want map[byte]bool) {
	n.t.Helper()
	for number, local := range want {
		if got := n.Handle().Contains(sstPath("db", number)); got != local {
			n.t.Errorf("SST %d is local: %v, want %v", number, got, local)
		}
	}
}

func TestOnlySelectedSegmentsAreWarmedAndRetained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		n := newNode(t, remote, choose("a").policy())
		putManifest(t, n, segmented(1, map[string][]byte{"": {1}, "a": {2}, "b": {3}}))
		n.requireHeld(map[byte]bool{1: false, 2: true, 3: false})
		equal(t, "retained", n.policy.Status().Retained, 1)
	})
}

func TestAnEmptyPrefixIsTheRootSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, choose("").policy())
		putManifest(t, n, segmented(1, map[string][]byte{"": {1}, "a": {2}}))
		n.requireHeld(map[byte]bool{1: true, 2: false})
		requireRoutes(t, n.policy, sstPath("db", 1), tagged(compactedTag.WithSegment(nil)), mirrored)
	})
}

func TestSelectedCallsAreRoutedToTheMirrorAndOthersToTheRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := choose("a", "new")
		n := newNode(t, newRemote(), c.policy())
		putManifest(t, n, l0(7))
		c.seen()
		path := sstPath("db", 1)
		requireRoutes(t, n.policy, path, tagged(compactedTag.WithSegment([]byte("a"))), mirrored)
		requireRoutes(t, n.policy, path, tagged(retried(compactedTag).WithSegment([]byte("a"))), refetched)
		// A segment that the manifest does not have yet can be selected.
		requireRoutes(t, n.policy, path, tagged(compactedTag.WithSegment([]byte("new"))), mirrored)
		requireRoutes(t, n.policy, path, tagged(compactedTag.WithSegment([]byte("b"))), remoteOnly)
		requireRoutes(t, n.policy, path, tagged(retried(compactedTag).WithSegment([]byte("b"))), remoteOnly)
		requireRoutes(t, n.policy, path, tagged(walTag.WithSegment([]byte("a"))), remoteOnly)
		equalSlices(t, "manifests that the predicate saw", c.seen(), []uint64{7})
		// Without a segment nothing is selected.
		requireRoutes(t, n.policy, path, tagged(compactedTag), remoteOnly)
	})
}

func TestASegmentNoLongerSelectedIsEvictedAtTheNextManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		c := choose("a", "b")
		n := newNode(t, remote, c.policy())
		segments := map[string][]byte{"a": {1}, "b": {2}}
		putManifest(t, n, segmented(1, segments))
		n.requireHeld(map[byte]bool{1: true, 2: true})

		c.set("b")
		synctest.Wait()
		n.requireHeld(map[byte]bool{1: true, 2: true})
		putManifest(t, n, segmented(2, segments))
		synctest.Wait()
		n.requireHeld(map[byte]bool{1: false, 2: true})

		// Selected again, it is not local before the next manifest downloads it.
		c.set("a", "b")
		err := n.readSST(sstPath("db", 1), compactedTag.WithSegment([]byte("a")))
		if _, ok := errors.AsType[*mirror.NotLocal](err); !ok {
			t.Error(err)
		}
		putManifest(t, n, segmented(3, segments))
		n.requireHeld(map[byte]bool{1: true, 2: true})
	})
}

func TestAnOlderManifestDoesNotRunThePredicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		c := choose("a")
		putManifest(t, remote, segmented(1, map[string][]byte{"a": {1}, "b": {2}}))
		putManifest(t, remote, checkpointed(segmented(2, map[string][]byte{"a": {3}}), 1))
		n := newNode(t, remote, c.policy())
		n.mustRead(2)
		equalSlices(t, "manifests that the predicate saw", c.seen(), []uint64{2})
		c.set("b") // must make no difference to what is retained
		n.mustRead(1)
		equalSlices(t, "manifests that the predicate saw", c.seen(), nil)
		n.requireHeld(map[byte]bool{1: true, 2: false, 3: true})
	})
}

func TestThePredicateOfTheNewManifestFiltersCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		c := choose("a", "b")
		n := newNode(t, remote, c.policy())
		putManifest(t, n, segmented(1, map[string][]byte{"a": {1}, "b": {2}}))
		putManifest(t, n, checkpointed(segmented(2, map[string][]byte{"a": {3}}), 1))
		equal(t, "retained", n.policy.Status().Retained, 3)
		c.set("b")
		putManifest(t, n, checkpointed(segmented(3, map[string][]byte{"a": {3}}), 1))
		synctest.Wait()
		equal(t, "retained", n.policy.Status().Retained, 1)
		n.requireHeld(map[byte]bool{1: false, 2: true, 3: false})
	})
}

func TestCompactionsOfUnselectedSegmentsAreNotDownloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2, 3)
		c := choose("a", "new")
		n := newNode(t, remote, c.policy())
		putManifest(t, n, segmented(5, nil))
		c.seen()
		putCompactions(t, n, 1, 2,
			job(slatedb.StatusScheduled, "a", []byte{1}), job(slatedb.StatusScheduled, "b", []byte{2}),
			job(slatedb.StatusScheduled, "new", []byte{3}))
		n.requireHeld(map[byte]bool{1: true, 2: false, 3: true})
		equalSlices(t, "manifests that the predicate saw", c.seen(), []uint64{5})
	})
}

func TestBeforeTheFirstManifestCompactionsOfEverySegmentAreDownloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		c := choose("a")
		n := newNode(t, remote, c.policy())
		putCompactions(t, n, 1, 2, job(slatedb.StatusScheduled, "a", []byte{1}), job(slatedb.StatusScheduled, "b", []byte{2}))
		n.requireHeld(map[byte]bool{1: true, 2: true})
		equalSlices(t, "manifests that the predicate saw", c.seen(), nil)
	})
}

func TestThePollHonorsThePredicateAndWaitsForAManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		putCompactions(t, remote, 1, 2, job(slatedb.StatusRunning, "a", []byte{1}), job(slatedb.StatusRunning, "b", []byte{2}))
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{Root: new(objectstore.Path("db")), SegmentPredicate: choose("a").selects}))
		synctest.Wait()
		n.requireHeld(map[byte]bool{1: false, 2: false})
		putManifest(t, n, segmented(1, nil))
		sleepFor(2 * slatedb.DefaultCompactionsPollInterval)
		n.requireHeld(map[byte]bool{1: true, 2: false})
	})
}

func TestWithPathTagsAClonesReadsAreLocalAndOtherDatabasesAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := fixtureStore(t, "c-clone")
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, PathTags: true}))
		m, err := slatedb.LatestManifest(t.Context(), n, "clone")
		if err != nil {
			t.Fatal(err)
		}
		resolver := m.Resolver("clone")
		for _, id := range m.SSTs() {
			want := derived
			if resolver.Root(id) != "clone" {
				want = borrowed
			}
			requireRoutes(t, n.policy, resolver.SSTPath(id), objectstore.Extensions{}, want)
			equal(t, "local", n.Handle().Contains(resolver.SSTPath(id)), true)
		}
		// The parent's own SSTs are not the clone's business.
		parent, err := slatedb.LatestManifest(t.Context(), remote, "parent")
		if err != nil {
			t.Fatal(err)
		}
		foreign := 0
		for _, id := range parent.SSTs() {
			if !slices.Contains(m.SSTs(), id) {
				foreign++
				requireRoutes(t, n.policy, slatedb.SSTPath("parent", id), objectstore.Extensions{}, remoteOnly)
			}
		}
		equal(t, "SSTs of the parent alone", foreign > 0, true)
	})
}

func TestWithPathTagsAndAPredicateRetainedSSTsAreLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 2)
		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true, PathTags: true, SegmentPredicate: choose("a").selects}))
		requireRoutes(t, n.policy, sstPath("db", 1), objectstore.Extensions{}, remoteOnly)
		putManifest(t, n, segmented(1, map[string][]byte{"a": {1}, "b": {2}}))
		requireRoutes(t, n.policy, sstPath("db", 1), objectstore.Extensions{}, borrowed)
		requireRoutes(t, n.policy, sstPath("db", 2), objectstore.Extensions{}, remoteOnly)
	})
}

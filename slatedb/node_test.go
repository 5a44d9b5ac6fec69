package slatedb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/slatedb"
	"github.com/stardustdb/stardust/slatedb/slatetest"
)

// watchedStore is a remote that counts what is read from it and lets a test
// step in before a read.
type watchedStore struct {
	objectstore.Store
	mu     sync.Mutex
	gets   map[objectstore.Path]int
	before func(ctx context.Context, path objectstore.Path) error
}

func newRemote() *watchedStore {
	return &watchedStore{Store: memory.New(nil), gets: map[objectstore.Path]int{}}
}

func (s *watchedStore) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	s.mu.Lock()
	s.gets[path]++
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(ctx, path); err != nil {
			return nil, &objectstore.Error{Op: "get", Path: string(path), Err: err}
		}
	}
	return s.Store.Get(ctx, path, options)
}

func (s *watchedStore) getsOf(path objectstore.Path) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets[path]
}

// intercept sets what runs before every read.
func (s *watchedStore) intercept(before func(ctx context.Context, path objectstore.Path) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// node is a machine with a mirror in front of a remote. It belongs into a
// synctest bubble.
type node struct {
	*mirror.Mirror
	t      *testing.T
	policy *slatedb.Policy
	remote objectstore.Store
}

// newNode starts a mirror with an empty directory, without remote scan and
// without retries. The poll of .compactions is the policy's own affair.
func newNode(t *testing.T, remote objectstore.Store, policy *slatedb.Policy) *node {
	t.Helper()
	m, err := mirror.Open(t.Context(), "/mirror", remote, policy, &mirror.Options{VFS: vfs.NewSimulated(), WithoutRemoteScan: true, MaxRetries: objectstore.NoRetries})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return &node{m, t, policy, remote}
}

// plainPolicy is a policy without poll.
func plainPolicy() *slatedb.Policy {
	return slatedb.NewPolicy(&slatedb.PolicyOptions{WithoutCompactionsPoll: true})
}

// read reads a metadata object through the mirror.
func (n *node) read(path objectstore.Path) error {
	_, _, err := objectstore.ReadAll(n.t.Context(), n, path)
	return err
}

// readManifest reads manifest id of the database "db".
func (n *node) readManifest(id uint64) error { return n.read(slatedb.ManifestPath("db", id)) }

// mustRead fails the test when a manifest of "db" cannot be read.
func (n *node) mustRead(id uint64) {
	n.t.Helper()
	if err := n.readManifest(id); err != nil {
		n.t.Fatal(err)
	}
}

// readSST reads an SST as SlateDB does and checks its bytes.
func (n *node) readSST(path objectstore.Path, tag slatedb.CallTag) error {
	result, err := n.Get(n.t.Context(), path, &objectstore.GetOptions{Extensions: tagged(tag)})
	if err != nil {
		return err
	}
	data, err := io.ReadAll(result.Body)
	if err := errors.Join(err, result.Body.Close()); err != nil {
		return err
	}
	if want := contents(string(path), len(data)); !bytes.Equal(data, want) || len(data) != sstSize {
		n.t.Errorf("%q holds %q", path, data)
	}
	return nil
}

// requireLocal checks which of the SSTs of "db" are local, by their numbers.
func (n *node) requireLocal(want map[byte]bool) {
	n.t.Helper()
	for number, local := range want {
		path := sstPath("db", number)
		if got := n.Handle().Contains(path); got != local {
			n.t.Errorf("SST %d is local: %v, want %v", number, got, local)
		}
		err := n.readSST(path, compactedTag.WithSegment(nil))
		_, missed := errors.AsType[*mirror.NotLocal](err)
		if local && err != nil || !local && !missed {
			n.t.Errorf("read of SST %d: %v", number, err)
		}
	}
}

const sstSize = 40

// putSSTs writes SSTs of "db" to a store.
func putSSTs(t *testing.T, store objectstore.Store, numbers ...byte) {
	t.Helper()
	for _, number := range numbers {
		putSST(t, store, sstPath("db", number))
	}
}

func putSST(t *testing.T, store objectstore.Store, path objectstore.Path) {
	t.Helper()
	put(t, store, string(path), contents(string(path), sstSize))
}

func sstID(number byte) ulid.ULID { return ulid.ULID{1, 15: number} }

// l0 returns a manifest with the SSTs of the given numbers as its L0.
func l0(id uint64, numbers ...byte) *slatedb.Manifest {
	var ids []ulid.ULID
	for _, number := range numbers {
		ids = append(ids, sstID(number))
	}
	return manifestOf(id, ids...)
}

// checkpointed adds checkpoints on manifests that do not expire.
func checkpointed(m *slatedb.Manifest, manifests ...uint64) *slatedb.Manifest {
	for i, id := range manifests {
		m.Checkpoints = append(m.Checkpoints, slatedb.Checkpoint{ID: [16]byte{byte(i + 1)}, ManifestID: id})
	}
	return m
}

// putManifest writes a manifest of "db" to a store.
func putManifest(t *testing.T, store objectstore.Store, m *slatedb.Manifest) {
	t.Helper()
	put(t, store, string(slatedb.ManifestPath("db", m.ID)), slatetest.EncodeManifest(m))
}

// fixedClock is a clock for tests that a test sets.
type fixedClock struct {
	mirror.SystemClock
	mu  sync.Mutex
	now time.Time
}

func (c *fixedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fixedClock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// sleepFor lets the bubble's time pass, and what happens meanwhile.
func sleepFor(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

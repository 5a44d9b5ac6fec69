package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// A mutable path is overwritten with other bytes each time, by every route.
// That is outside RFC 0034's contract, but no read may see bytes that the
// remote no longer had before the read and every write in progress began.
type mutable struct {
	last int // version that a write was given
	// stored are the versions that the remote has had, in order; 0: none.
	stored []int
	// base is where in stored the oldest version is that a read may see now.
	base   int
	writes int // in progress
}

const mutablePrefix = "mut/"

func isMutable(path objectstore.Path) bool { return strings.HasPrefix(string(path), mutablePrefix) }

func mutablePath(n int64) objectstore.Path {
	return objectstore.Path(fmt.Sprintf("%s%02d", mutablePrefix, uint64(n)%2))
}

// version returns the bytes of a version of a mutable path.
func version(path objectstore.Path, n int) []byte {
	head := fmt.Sprintf("%s %d ", path, n)
	return append([]byte(head), bytes.Repeat([]byte{'.'}, int(hash(uint64(n), string(path))%300))...)
}

// versionOf returns which version of a path data is, or -1.
func versionOf(path objectstore.Path, data []byte) int {
	var n int
	name := ""
	if _, err := fmt.Sscanf(string(data), "%s %d ", &name, &n); err != nil || !bytes.Equal(data, version(path, n)) {
		return -1
	}
	return n
}

// mutable returns what is known of a mutable path. s.mu is held.
func (s *simulation) mutable(path objectstore.Path) *mutable {
	m := s.mutables[path]
	if m == nil {
		m = &mutable{stored: []int{0}}
		s.mutables[path] = m
	}
	return m
}

// mutated is told that the remote's object at path may have changed. s.mu is
// held.
func (s *simulation) mutated(path objectstore.Path) {
	if !isMutable(path) {
		return
	}
	now := 0
	if data, _, err := objectstore.ReadAll(context.Background(), s.store, path); err == nil {
		now = versionOf(path, data)
	}
	m := s.mutable(path)
	if m.stored[len(m.stored)-1] != now {
		m.stored = append(m.stored, now)
	}
}

// overwrite writes the next version of a mutable path.
func (s *simulation) overwrite(ctx context.Context, l *life, o *op) error {
	path := o.path()
	s.mu.Lock()
	m := s.mutable(path)
	m.last++
	data := version(path, m.last)
	s.mu.Unlock()
	return s.change(l, o, func() error { return s.send(ctx, l, o, path, data) })
}

// change runs what changes the remote's object at a mutable path.
func (s *simulation) change(l *life, o *op, run func() error) error {
	s.mu.Lock()
	m := s.mutable(o.path())
	m.writes++
	s.mu.Unlock()
	err := run()
	s.mu.Lock()
	defer s.mu.Unlock()
	// A write that did not come as far as the remote says nothing about the
	// copy that a crash brought back.
	if m.writes--; m.writes == 0 && o.reached && !s.hasEnded(l) {
		m.base = len(m.stored) - 1
	}
	return err
}

// send writes data in the operation's way.
func (s *simulation) send(ctx context.Context, l *life, o *op, path objectstore.Path, data []byte) error {
	put := &objectstore.PutOptions{Mode: o.mode(), Extensions: route(o, []mirror.WriteRoute{mirror.WriteMirror, mirror.WriteRemote, mirror.WriteObserve}[o.holds])}
	if o.update {
		meta, err := objectstore.Head(context.Background(), s.store, path)
		if err == nil {
			put.Mode, put.UpdateVersion = objectstore.Update, objectstore.UpdateVersion{ETag: meta.ETag, Version: meta.Version}
		}
	}
	if o.number%3 > 0 {
		_, err := l.mirror.Put(ctx, path, o.bodyOf(data), put)
		return err
	}
	options := &objectstore.MultipartOptions{Mode: o.mode(), Extensions: route(o, []mirror.MultipartRoute{mirror.MultipartMirror, mirror.MultipartRemote}[o.holds%2])}
	u, err := l.mirror.PutMultipart(ctx, path, options)
	if err != nil {
		return err
	}
	if o.race {
		err = s.racePart(ctx, l, o, u, data)
	} else {
		err = u.PutPart(ctx, 1, o.bodyOf(data))
	}
	if err == nil {
		_, err = u.Complete(ctx)
	}
	if err != nil {
		s.abandon(l, u.Abort(ctx) != nil)
	}
	return err
}

// racePart sends the part twice at once, with the bytes of two versions: the
// remote keeps one of them.
func (s *simulation) racePart(ctx context.Context, l *life, o *op, u objectstore.Upload, data []byte) error {
	s.mu.Lock()
	m := s.mutable(o.path())
	m.last++
	other := version(o.path(), m.last)
	s.mu.Unlock()
	defer s.quietly(o.path())()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, data := range [][]byte{data, other} {
		wg.Go(func() { errs[i] = u.PutPart(ctx, 1, o.bodyOf(data)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// readMutable reads a mutable path whole.
func (s *simulation) readMutable(ctx context.Context, l *life, o *op) error {
	path := o.path()
	s.mu.Lock()
	base := s.mutable(path).base
	s.mu.Unlock()
	result, err := l.mirror.Get(ctx, path, &objectstore.GetOptions{Extensions: route(o, o.read)})
	if err != nil {
		return err
	}
	data, err := io.ReadAll(result.Body)
	if err := errors.Join(err, result.Body.Close()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasEnded(l) || !s.config.verify && s.object(path).rotten {
		return nil
	}
	m := s.mutable(path)
	switch n := versionOf(path, data); {
	case n < 1:
		s.fail(fmt.Sprintf("bytes: a read of %q yielded %q, which is no version of it", path, data))
	case !slices.Contains(m.stored[base:], n):
		s.fail(fmt.Sprintf("stale: a read of %q yielded version %d; since it began and the writes in progress did, the remote has had %v", path, n, m.stored[base:]))
	}
	return nil
}

// checkMutable checks a local copy of a mutable path when nothing is in
// progress. After a start that was no clean one (trusted) it may be an older
// version. s.mu is held.
func (s *simulation) checkMutable(path objectstore.Path, name string, trusted bool) {
	m, ob := s.mutable(path), s.object(path)
	if ob.vanished {
		return // nobody has read it yet
	}
	data, _ := s.disk.ReadFile(filepath.Join(root, name))
	n := versionOf(path, data)
	at := slices.Index(m.stored, n)
	switch {
	case n < 1 && trusted && !ob.rotten:
		s.fail(fmt.Sprintf("bytes: the local copy of %q is %q, which is no version of it", path, data))
	case n < 1:
	case at < 0:
		s.fail(fmt.Sprintf("bytes: the local copy of %q is version %d, which the remote has never had", path, n))
	case trusted && at < m.base:
		s.fail(fmt.Sprintf("stale: the local copy of %q is version %d, the remote has had %v since", path, n, m.stored[m.base:]))
	default:
		m.base = min(m.base, at)
		ob.rotten = false
		return
	}
	ob.rotten = n < 1
}

package simtest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// client is a goroutine that does one operation after another.
func (s *simulation) client(l *life, number int) {
	name := fmt.Sprintf("client %d", number)
	for {
		v, err := s.sched.park(context.Background(), &gate{kind: gateClient, label: name, life: l})
		if err != nil || v.op == nil {
			return
		}
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), opKey{}, v.op))
		s.beginOp(v.op, cancel)
		err = s.do(ctx, l, v.op)
		s.endOp(l, v.op, err)
		cancel()
	}
}

func (s *simulation) beginOp(o *op, cancel context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.cancel = cancel
	s.moment++
	o.begun = s.moment
	o.before = map[objectstore.Path]seen{}
	for _, path := range o.paths {
		ob := s.object(path)
		o.before[path] = seen{ob.remote, ob.deletions, ob.progressed}
	}
	s.active = append(s.active, o)
}

func (s *simulation) endOp(l *life, o *op, err error) {
	if s.hasEnded(l) {
		return
	}
	s.mu.Lock()
	o.done = true
	for i, other := range s.active {
		if other == o {
			s.active = append(s.active[:i:i], s.active[i+1:]...)
			break
		}
	}
	s.mu.Unlock()
	text := "ok"
	if err != nil {
		text = err.Error()
	}
	s.sched.note(l, fmt.Sprintf("client %d op %d ends: %s", o.client, o.id, text))
	s.judge(l, o, err)
}

// hold pauses inside an operation.
func (s *simulation) hold(ctx context.Context, l *life, o *op, what string) error {
	_, err := s.sched.park(ctx, &gate{kind: gateHold, label: fmt.Sprintf("client %d %s", o.client, what), life: l})
	return err
}

// do does one operation.
func (s *simulation) do(ctx context.Context, l *life, o *op) error {
	m := l.mirror
	switch o.kind {
	case opGet, opHead:
		return s.get(ctx, l, o)
	case opPut:
		return s.put(ctx, l, o)
	case opMultipart:
		return s.multipart(ctx, l, o)
	case opFetch:
		return s.fetch(ctx, l, m.Handle(), o.paths, nil)
	case opFetchLater:
		return s.fetch(ctx, l, m.Handle(), o.paths, func() error {
			for range o.holds + 1 {
				if err := s.hold(ctx, l, o, "holds a fetch"); err != nil {
					return err
				}
			}
			if o.number%4 == 0 {
				return errGivenUp
			}
			return nil
		})
	case opPrefetch:
		s.prefetch(m.Handle(), o.paths)
		return nil
	case opEvict:
		s.evict(m.Handle(), o.paths)
		return nil
	case opDelete:
		return s.remove(l, o.paths[:1], func() error { return m.Delete(ctx, o.path()) })
	case opDeleteAll:
		return s.removeAll(ctx, l, o)
	case opList:
		for _, err := range m.List(ctx, &objectstore.ListOptions{Prefix: "db/"}) {
			if err != nil {
				return err
			}
		}
		return nil
	case opScan:
		return s.scan(ctx, l)
	case opReadManifest:
		return s.readManifest(ctx, l)
	case opWriteManifest:
		names := map[objectstore.Path]bool{}
		for _, path := range o.paths {
			names[path] = true
		}
		_, err := m.Put(ctx, manifestPath, objectstore.Bytes(formatManifest(sortedPaths(names))), &objectstore.PutOptions{Extensions: route(o, mirror.WriteObserve)})
		return err
	case opPlainPut:
		_, err := m.Put(ctx, "wal/1", objectstore.Bytes(content("wal/1")), nil)
		return err
	case opPlainGet:
		return s.readPlain(ctx, m)
	case opCopy:
		err := m.Copy(ctx, o.path(), "db/copy", nil)
		if !errors.Is(err, objectstore.ErrUnsupported) {
			s.failf("copy returned %v", err)
		}
		return nil
	case opOverwrite:
		return s.overwrite(ctx, l, o)
	case opReadMutable:
		return s.readMutable(ctx, l, o)
	case opDropMutable:
		if !o.create {
			m.Handle().Evict(o.path())
			return nil
		}
		return s.change(l, o, func() error { return m.Delete(ctx, o.path()) })
	default:
		panic("unknown kind")
	}
}

// errGivenUp tells fetch that its caller gave up by Cancel.
var errGivenUp = errors.New("given up")

// route puts a route into the extensions of a call.
func route[R any](o *op, r R) objectstore.Extensions {
	e := objectstore.WithExtension(objectstore.Extensions{}, r)
	if o != nil && o.refused {
		e = objectstore.WithExtension(e, refuse{})
	}
	return e
}

// fetch registers a fetch, runs pause, and waits.
func (s *simulation) fetch(ctx context.Context, l *life, h mirror.Handle, paths []objectstore.Path, pause func() error) error {
	t := s.issue(turnFetch, paths...)
	f := h.Fetch(paths...)
	if pause != nil {
		if err := pause(); err != nil {
			f.Cancel()
			s.finish(l, t, unknown, paths...)
			return nil
		}
	}
	err := f.Wait(ctx)
	leaves := unknown
	if err == nil {
		leaves = present
	}
	s.finish(l, t, leaves, paths...)
	return err
}

func (s *simulation) prefetch(h mirror.Handle, paths []objectstore.Path) {
	t := s.issue(turnFetch, paths...)
	s.mu.Lock()
	before := map[objectstore.Path]seen{}
	for _, path := range paths {
		ob := s.object(path)
		before[path] = seen{remote: ob.remote, deletions: ob.deletions}
	}
	s.mu.Unlock()
	h.Prefetch(paths...)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.done, t.prefetch = true, before
}

func (s *simulation) evict(h mirror.Handle, paths []objectstore.Path) {
	t := s.issue(turnOther, paths...)
	h.Evict(paths...)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.done, t.leaves = true, absent
}

// remove runs a delete and says what it leaves.
func (s *simulation) remove(l *life, paths []objectstore.Path, run func() error) error {
	t := s.issue(turnOther, paths...)
	err := run()
	leaves := absent
	if errors.Is(err, context.Canceled) || errors.Is(err, objectstore.ErrClosed) {
		leaves = unknown // it may have been given up in line
	}
	s.finish(l, t, leaves, paths...)
	return err
}

// removeAll deletes several paths at once; of their errors it returns one.
func (s *simulation) removeAll(ctx context.Context, l *life, o *op) error {
	unique := map[objectstore.Path]bool{}
	for _, path := range o.paths {
		unique[path] = true
	}
	paths := sortedPaths(unique)
	each := func(yield func(objectstore.Path) bool) {
		for _, path := range paths {
			if !yield(path) {
				return
			}
		}
	}
	return s.remove(l, paths, func() error {
		var first error
		answers := 0
		for _, err := range l.mirror.DeleteAll(ctx, each) {
			answers++
			if err != nil && first == nil {
				first = err
			}
		}
		if answers != len(paths) {
			s.failf("DeleteAll answered for %d of %d paths", answers, len(paths))
		}
		return first
	})
}

func (s *simulation) scan(ctx context.Context, l *life) error {
	s.mu.Lock()
	busy := l.scanning
	l.scanning = true
	s.mu.Unlock()
	if busy {
		return nil // it would wait for a mutex
	}
	_, err := l.mirror.Scan(ctx)
	s.mu.Lock()
	l.scanning = false
	s.mu.Unlock()
	return err
}

func (s *simulation) readManifest(ctx context.Context, l *life) error {
	result, err := l.mirror.Get(ctx, manifestPath, &objectstore.GetOptions{Range: objectstore.Suffix(int64(len(manifestEnd))), Extensions: route(nil, mirror.ReadObserve)})
	if err != nil {
		return err
	}
	data, err := io.ReadAll(result.Body)
	if err == nil && string(data) != manifestEnd {
		s.failf("the end of the manifest is %q", data)
	}
	return errors.Join(err, result.Body.Close())
}

func (s *simulation) readPlain(ctx context.Context, m *mirror.Mirror) error {
	result, err := m.Get(ctx, "wal/1", &objectstore.GetOptions{})
	if err != nil {
		return err
	}
	data, err := io.ReadAll(result.Body)
	if err == nil && string(data) != "wal/1" && int64(len(data)) == result.End-result.Start {
		s.failf("the plain object is %q", data)
	}
	return errors.Join(err, result.Body.Close())
}

package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// get reads an object, or its metadata, and checks every byte.
func (s *simulation) get(ctx context.Context, l *life, o *op) error {
	path := o.path()
	if o.read != mirror.ReadLocal || s.config.verify {
		defer s.loosely(path, o.read == mirror.ReadThrough || s.config.verify)()
	}
	mustHit := s.mustHit(o)
	var t *turn
	if o.read == mirror.ReadRefetch && !o.refused {
		t = s.issue(turnRefetch, path)
	}
	result, err := l.mirror.Get(ctx, path, &objectstore.GetOptions{
		Range: o.part, Head: o.kind == opHead, Extensions: route(o, o.read),
	})
	if t != nil {
		s.checkRefetched(t, path, err)
		leaves := present
		if err != nil {
			leaves = unknown
		}
		s.finish(l, t, leaves, path)
	}
	if err != nil {
		var notLocal *mirror.NotLocal
		if errors.As(err, &notLocal) && mustHit(l) {
			s.failf("order: %q must be local, but the read returned %v", path, err)
		}
		if notLocal != nil && o.read == mirror.ReadLocal && l.mirror.Handle().Contains(path) {
			s.failf("map: a read of %q returned %v, but Contains is true", path, err)
		}
		return err
	}
	return s.checkResult(ctx, l, o, result)
}

// checkRefetched checks that a refetch that succeeded has replaced the copy.
func (s *simulation) checkRefetched(t *turn, path objectstore.Path, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.object(path).installed < t.issued {
		s.fail(fmt.Sprintf("refetch: the local copy of %q was not replaced", path))
	}
}

// mustHit returns a function that reports whether a Local read that begins now
// and has just missed had to hit.
func (s *simulation) mustHit(o *op) func(l *life) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ob := s.object(o.path())
	if o.read != mirror.ReadLocal || s.claim(ob) != present {
		return func(*life) bool { return false }
	}
	turns := len(ob.line)
	return func(l *life) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.life == l && !l.closing && !ob.deleted && !ob.vanished && len(ob.line) == turns
	}
}

// checkResult checks what a read returned, and reads its body to the end.
func (s *simulation) checkResult(ctx context.Context, l *life, o *op, result *objectstore.GetResult) error {
	path := o.path()
	want := s.content(path)
	start, end, err := o.part.Resolve(int64(len(want)))
	if err != nil {
		s.failf("a read of %v of %q succeeded: %v", o.part, path, err)
		return err
	}
	if result.Meta.Path != path || result.Meta.Size != int64(len(want)) || result.Start != start || result.End != end || result.Meta.ETag == "" {
		s.failf("the result of reading %v of %q is %+v for %d bytes", o.part, path, *result, len(want))
	}
	if a := attributes(path); result.Attributes.ContentType != a.ContentType || !maps.Equal(result.Attributes.Metadata, a.Metadata) {
		s.failf("the attributes of %q are %+v", path, result.Attributes)
	}
	if o.kind == opHead {
		if result.Body != nil {
			s.failf("a HEAD of %q has a body", path)
		}
		return nil
	}
	got, err := s.readBody(ctx, l, o, result.Body)
	err = errors.Join(err, result.Body.Close())
	if err != nil {
		return err
	}
	s.checkBytes(l, o, got, want[start:end])
	return nil
}

// checkBytes checks what a body yielded before its end.
func (s *simulation) checkBytes(l *life, o *op, got, want []byte) {
	path := o.path()
	if bytes.Equal(got, want) || s.hasEnded(l) {
		return
	}
	s.mu.Lock()
	ob := s.object(path)
	// A refetch brings good bytes, unless they rot under the read.
	excused := !s.config.verify && ob.rotten && (o.read != mirror.ReadRefetch || ob.rotted > o.begun)
	s.mu.Unlock()
	if len(got) != len(want) || !excused {
		s.failf("bytes: %v of %q yielded %d bytes that are not the %d of the object", o.part, path, len(got), len(want))
	}
}

// readBody reads a body in pieces, with pauses.
func (s *simulation) readBody(ctx context.Context, l *life, o *op, body io.Reader) ([]byte, error) {
	var got []byte
	piece := make([]byte, 1+o.number%(40<<10)+int64(len(s.content(o.path()))/20))
	holds := o.holds
	for {
		n, err := body.Read(piece)
		got = append(got, piece[:n]...)
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if len(got) > 2*bigSize {
			return got, fmt.Errorf("body of %q does not end", o.path())
		}
		if holds > 0 {
			holds--
			if err := s.hold(ctx, l, o, "holds a body"); err != nil {
				return got, err
			}
		}
	}
}

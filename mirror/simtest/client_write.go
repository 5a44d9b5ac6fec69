package simtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// errSender is how a body ends whose sender goes away.
var errSender = errors.New("the sender went away")

// body returns data as the operation says it comes.
func (o *op) bodyOf(data []byte) objectstore.Body {
	switch o.body {
	case bodyStream:
		return objectstore.Stream(bytes.NewReader(data), int64(len(data)))
	case bodyBroken:
		return objectstore.Stream(io.MultiReader(bytes.NewReader(data[:len(data)/2]), brokenReader{}), int64(len(data))+1)
	default:
		return objectstore.Bytes(data)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errSender }

func (o *op) mode() objectstore.PutMode {
	if o.create {
		return objectstore.Create
	}
	return objectstore.Overwrite
}

// put writes an object through the mirror.
func (s *simulation) put(ctx context.Context, l *life, o *op) error {
	path := o.path()
	return s.write(l, o, func() error {
		_, err := l.mirror.Put(ctx, path, o.bodyOf(s.content(path)), &objectstore.PutOptions{
			Mode: o.mode(), Attributes: attributes(path), Extensions: route(o, mirror.WriteMirror),
		})
		return err
	})
}

// write runs what writes an object and says what it leaves.
func (s *simulation) write(l *life, o *op, run func() error) error {
	path := o.path()
	t := s.issue(turnOther, path)
	err := run()
	leaves := unknown
	var committed *mirror.WriteCommitted
	switch {
	case err == nil:
		leaves = present
	case errors.As(err, &committed):
		leaves = absent
	}
	s.finish(l, t, leaves, path)
	return err
}

// upload is a multipart upload in one of the two forms that there are.
type upload struct {
	part     func(ctx context.Context, number int, body objectstore.Body) error
	complete func(ctx context.Context) error
	abort    func(ctx context.Context) error
}

func (s *simulation) startUpload(ctx context.Context, m *mirror.Mirror, o *op) (*upload, error) {
	path := o.path()
	options := &objectstore.MultipartOptions{Mode: o.mode(), Attributes: attributes(path), Extensions: route(o, mirror.MultipartMirror)}
	if !o.byID {
		u, err := m.PutMultipart(ctx, path, options)
		if err != nil {
			return nil, err
		}
		return &upload{u.PutPart, func(ctx context.Context) error {
			_, err := u.Complete(ctx)
			return err
		}, u.Abort}, nil
	}
	id, err := m.CreateMultipart(ctx, path, options)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	parts := map[int]objectstore.Part{}
	return &upload{
		part: func(ctx context.Context, number int, body objectstore.Body) error {
			part, err := m.UploadPart(ctx, path, id, number, body)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				parts[number] = part
			}
			return err
		},
		complete: func(ctx context.Context) error {
			var chosen []objectstore.Part
			for number := 1; number <= len(parts); number++ {
				chosen = append(chosen, parts[number])
			}
			_, err := m.CompleteMultipart(ctx, path, id, chosen, &objectstore.CompleteOptions{Mode: o.mode(), Extensions: route(nil, mirror.MultipartMirror)})
			return err
		},
		abort: func(ctx context.Context) error { return m.AbortMultipart(ctx, path, id) },
	}, nil
}

// multipart writes an object in parts.
func (s *simulation) multipart(ctx context.Context, l *life, o *op) error {
	u, err := s.startUpload(ctx, l.mirror, o)
	if err != nil {
		return err
	}
	if err := s.sendParts(ctx, l, o, u); err != nil {
		s.abandon(l, u.abort(ctx) != nil)
		return err
	}
	for range o.holds {
		if err := s.hold(ctx, l, o, "holds an upload"); err != nil {
			s.abandon(l, u.abort(ctx) != nil)
			return err
		}
	}
	if o.end == 2 {
		err := u.abort(ctx)
		s.abandon(l, err != nil)
		return err
	}
	s.mu.Lock()
	closing := l.closing
	s.mu.Unlock()
	if o.end == 3 || closing {
		// Beside a Close, CompleteMultipart could wait for a mutex.
		s.abandon(l, true)
		return nil
	}
	err = s.write(l, o, func() error { return u.complete(ctx) })
	if err != nil {
		s.abandon(l, u.abort(ctx) != nil)
	}
	return err
}

// abandon counts an upload whose local side may live on.
func (s *simulation) abandon(l *life, lives bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lives {
		l.uploads++
	}
}

// sendParts sends the parts in the operation's order, or all at once.
func (s *simulation) sendParts(ctx context.Context, l *life, o *op, u *upload) error {
	data := s.content(o.path())
	bounds := append([]int{0}, slices.Sorted(slices.Values(o.cuts))...)
	bounds = append(bounds, len(data))
	send := func(n int) error {
		return u.part(ctx, n+1, o.bodyOf(data[bounds[n]:bounds[n+1]]))
	}
	if !o.parallel || !canRunParts(o.path()) {
		for _, n := range o.order {
			if err := send(n); err != nil {
				return err
			}
		}
		return nil
	}
	defer s.quietly(o.path())()
	errs := make([]error, len(o.order))
	var wg sync.WaitGroup
	for i, n := range o.order {
		wg.Go(func() { errs[i] = send(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// quietly says that parts of an upload of path are sent at once, until the
// function returned is called: see isQuiet.
func (s *simulation) quietly(path objectstore.Path) (end func()) {
	base := path.Base()
	s.mu.Lock()
	s.quiet[base]++
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.quiet[base]--; s.quiet[base] <= 0 {
			delete(s.quiet, base)
		}
	}
}

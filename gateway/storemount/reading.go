package storemount

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

const (
	// window is how much of a stream is kept behind its head: the kernel asks for
	// what comes next in several requests, which arrive in any order.
	window = 4 << 20
	// leastRange is the first request of a program that jumps about; one that
	// reads on gets four times as much with each, and then all the rest.
	leastRange = 1 << 20
	mostRange  = 64 << 20
	// maxTries is how often a stream that broke off is begun again for one read.
	maxTries = 3
)

// errChanged says that an object is not the version any more that a program opened.
var errChanged = errors.New("the object was replaced while it was read")

// reading is an object that is open. Everything that it reads is of one version. Its
// methods may be called concurrently.
type reading struct {
	store objectstore.Store
	key   objectstore.Path
	meta  objectstore.ObjectMeta
	at    io.ReaderAt // of the whole object, where the store has one

	mu     sync.Mutex
	body   io.ReadCloser // nil when there is none
	cancel context.CancelFunc
	kept   []byte // what was read last of body
	head   int64  // where body stands, the end of kept
	end    int64  // of body
	size   int64  // of the range to ask for next
}

// same reports whether two descriptions are of one version of an object.
func same(a, b *objectstore.ObjectMeta) bool {
	return a.Size == b.Size && a.ETag == b.ETag && a.LastModified.Truncate(time.Second).Equal(b.LastModified.Truncate(time.Second))
}

// within returns a context for a call that outlives the request it began in, once
// kept was called. Until then the end of the request ends it.
func within(request context.Context) (ctx context.Context, kept func() bool, cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(context.WithoutCancel(request))
	return ctx, context.AfterFunc(request, cancel), cancel
}

// openReading opens the version of an object that there is now.
func openReading(request context.Context, store objectstore.Store, key objectstore.Path) (*reading, error) {
	ctx, kept, cancel := within(request)
	result, err := store.Get(ctx, key, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	kept()
	r := &reading{store: store, key: key, meta: result.Meta, body: result.Body, cancel: cancel, end: result.End, size: leastRange}
	r.at, _ = result.Body.(io.ReaderAt)
	return r, nil
}

// readAt fills p, or as much of it as the object has.
func (r *reading) readAt(request context.Context, p []byte, offset int64) (int, error) {
	if offset >= r.meta.Size {
		return 0, nil
	}
	p = p[:min(int64(len(p)), r.meta.Size-offset)]
	if r.at != nil {
		n, err := r.at.ReadAt(p, offset)
		if n == len(p) {
			err = nil
		}
		return n, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 0; n < len(p); {
		piece := p[n:min(len(p), n+window)]
		if err := r.readPiece(request, piece, offset+int64(n)); err != nil {
			return 0, err
		}
		n += len(piece)
	}
	return len(p), nil
}

// readPiece fills p, of which the window holds as much, also from a connection that
// breaks.
func (r *reading) readPiece(request context.Context, p []byte, offset int64) error {
	for try := 1; ; try++ {
		err := r.readStream(request, p, offset)
		if err == nil {
			return nil
		}
		r.drop()
		if try == maxTries || request.Err() != nil || !objectstore.IsTransient(err) {
			return err
		}
	}
}

// readStream fills p from the stream, which it moves or begins again where it must.
func (r *reading) readStream(request context.Context, p []byte, offset int64) error {
	if err := request.Err(); err != nil {
		return err
	}
	end := offset + int64(len(p))
	from := r.head - int64(len(r.kept))
	switch {
	case r.body == nil || offset < from || offset > r.head+window:
		if r.body != nil && offset != r.head {
			r.size = leastRange // it jumps
		}
		if err := r.begin(request, offset); err != nil {
			return err
		}
	case offset > r.head:
		// What is between comes in a request that is still on its way.
		if err := r.fill(request, offset); err != nil {
			return err
		}
	}
	if err := r.fill(request, end); err != nil {
		return err
	}
	from = r.head - int64(len(r.kept))
	copy(p, r.kept[offset-from:])
	return nil
}

// fill reads on up to an offset of the object.
func (r *reading) fill(request context.Context, to int64) error {
	for r.head < to {
		if r.head == r.end {
			if err := r.resume(request); err != nil {
				return err
			}
		}
		n := min(to-r.head, r.end-r.head, window)
		if len(r.kept) > 2*window { // now and then, since it moves them
			r.kept = append(r.kept[:0], r.kept[len(r.kept)-window:]...)
		}
		had := len(r.kept)
		r.kept = append(r.kept, make([]byte, n)...)
		stop := context.AfterFunc(request, r.cancel)
		got, err := io.ReadFull(r.body, r.kept[had:])
		stop()
		r.kept = r.kept[:had+got]
		r.head += int64(got)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// resume asks for the range that follows, with what was kept left as it is.
func (r *reading) resume(request context.Context) error {
	kept := r.kept
	if err := r.begin(request, r.head); err != nil {
		return err
	}
	r.kept = kept
	return nil
}

// begin asks for the object from an offset on.
func (r *reading) begin(request context.Context, offset int64) error {
	r.drop()
	ctx, kept, cancel := within(request)
	options := &objectstore.GetOptions{IfMatch: r.meta.ETag}
	end := r.meta.Size
	if r.size < mostRange {
		end = min(end, offset+r.size)
		r.size *= 4
	}
	options.Range = objectstore.Bounded(offset, end)
	result, err := r.store.Get(ctx, r.key, options)
	if err != nil {
		cancel()
		return err
	}
	kept()
	r.body, r.cancel, r.head, r.end = result.Body, cancel, result.Start, result.End
	if !same(&result.Meta, &r.meta) || r.head != offset || r.end != end {
		r.drop()
		return errChanged
	}
	return nil
}

// drop gives the stream up.
func (r *reading) drop() {
	if r.body == nil {
		return
	}
	r.cancel()
	_ = r.body.Close() // it was read only
	r.body, r.kept = nil, nil
}

func (r *reading) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
}

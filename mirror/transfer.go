package mirror

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	// segmentSize is how much of a large object one ranged GET brings. It is
	// a multiple of blockSize.
	segmentSize = 8 << 20
	// copySize is how much of a body is held in memory at a time.
	copySize = 256 << 10
	// maxRanged is how often a download starts over because the object changed,
	// before it stops using ranges; maxChanges, before it fails.
	maxRanged  = 3
	maxChanges = 10
)

// startOver tells that a download must begin again from the first byte.
type startOver struct {
	cause   error
	changed bool // the object changed, so there is nothing to wait for
}

func (s *startOver) Error() string { return "download must start over: " + s.cause.Error() }
func (s *startOver) Unwrap() error { return s.cause }

// download downloads a flight's object into a temporary file and installs it.
// It repeats after transient errors, resumes after cuts, and starts over when
// the object changes meanwhile: the copy is never of mixed bytes. A copy that
// does not have the length that the remote promised is never installed.
func (d *downloader) download(ctx context.Context, f *flight) (*local.Entry, error) {
	s, err := d.local.Stage(ctx, f.path)
	if err != nil {
		return nil, err
	}
	defer s.Discard()
	changes, retries := 0, 0
	for {
		md, err := d.attempt(ctx, f, s, changes < maxRanged, &retries)
		if err == nil {
			return s.Install(ctx, md)
		}
		var again *startOver
		switch {
		case errors.Is(err, objectstore.ErrNotFound) && f.askAgain():
		case !errors.As(err, &again):
			return nil, err
		case again.changed:
			if f.received.Load() > 0 {
				retries = 0
			}
			if changes++; changes > maxChanges {
				return nil, fmt.Errorf("the object changed %d times during its download; mirrored paths must be written once: %w", changes, again.cause)
			}
		default:
			if err := d.pause(ctx, f, &retries, again.cause); err != nil {
				return nil, err
			}
		}
		f.received.Store(0)
		if err := s.W.Truncate(0); err != nil {
			return nil, local.Fail("empty the temporary file", f.path, err)
		}
	}
}

// pause waits before the repetition of a remote call that failed with err.
func (d *downloader) pause(ctx context.Context, f *flight, retries *int, err error) error {
	if err := d.retry.wait(ctx, retries, err); err != nil {
		return err
	}
	f.retries.Add(1)
	return nil
}

// attempt downloads the object from its first byte.
func (d *downloader) attempt(ctx context.Context, f *flight, s *local.Staged, ranged bool, retries *int) (local.Metadata, error) {
	var result *objectstore.GetResult
	var src source
	for {
		var err error
		if result, err = src.open(ctx, d.remote, f.path, &objectstore.GetOptions{}, d.stall); err == nil {
			break
		}
		if err := d.pause(ctx, f, retries, err); err != nil {
			return local.Metadata{}, err
		}
	}
	size := result.Meta.Size
	f.size.Store(size)
	t := &transfer{
		d: d, f: f, s: s, size: size, etag: result.Meta.ETag,
		ranged: ranged && result.Meta.ETag != "" && !strings.HasPrefix(result.Meta.ETag, "W/"),
		last:   segmentCount(size), sums: map[int64][]uint32{},
	}
	if size < 0 || result.Start != 0 || result.End != size || result.Body == nil {
		src.close()
		return local.Metadata{}, fmt.Errorf("remote answered bytes %d to %d of %d for the whole object", result.Start, result.End, size)
	}
	if d.admit != nil && !d.admit(f.path, size) {
		src.close()
		return local.Metadata{}, &NotLocal{f.path}
	}
	if err := t.run(ctx, &src); err != nil {
		return local.Metadata{}, err
	}
	return local.Metadata{
		Size: size, Modified: result.Meta.LastModified, ETag: result.Meta.ETag, Version: result.Meta.Version,
		Attributes: result.Attributes, Blocks: t.blocks(),
	}, nil
}

// segmentCount returns how many segments an object has; an empty one has one.
func segmentCount(size int64) int64 { return max(1, (size+segmentSize-1)/segmentSize) }

// transfer is one attempt to download an object. The first GET's body is read
// from the front; helpers, when slots are free, get segments from the back.
type transfer struct {
	d      *downloader
	f      *flight
	s      *local.Staged
	size   int64
	etag   string
	ranged bool // ranges under If-Match may be asked for

	mu          sync.Mutex
	first, last int64              // segments [first, last) are not taken
	sums        map[int64][]uint32 // block checksums by segment
	err         error              // of a helper
}

// run copies all segments.
func (t *transfer) run(ctx context.Context, src *source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var helpers sync.WaitGroup
	err := t.work(ctx, src, t.front, func() {
		for t.ranged && t.left() > 1 && t.d.lend() {
			helpers.Go(func() {
				defer t.d.giveBack()
				if err := t.work(ctx, &source{}, t.back, func() {}); err != nil {
					t.mu.Lock()
					if t.err == nil {
						t.err = err
					}
					t.mu.Unlock()
					cancel()
				}
			})
		}
	})
	if err != nil {
		cancel()
	}
	helpers.Wait()
	// A helper's error came first when the cancellation is what ended us.
	if t.err != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = t.err
	}
	return err
}

// work copies the segments that take returns.
func (t *transfer) work(ctx context.Context, src *source, take func() (int64, bool), before func()) error {
	defer src.close()
	buffer := t.d.buffer()
	defer t.d.buffers.Put(buffer)
	for {
		segment, ok := take()
		if !ok {
			return nil
		}
		before()
		if err := t.copy(ctx, segment, src, *buffer); err != nil {
			return err
		}
	}
}

func (d *downloader) buffer() *[]byte {
	if b, ok := d.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, copySize)
	return &b
}

// front takes the first segment left.
func (t *transfer) front() (int64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first >= t.last || t.err != nil {
		return 0, false
	}
	t.first++
	return t.first - 1, true
}

// back takes the last segment left, unless another flight waits for the slot.
func (t *transfer) back() (int64, bool) {
	if t.d.wanted() {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first >= t.last || t.err != nil {
		return 0, false
	}
	t.last--
	return t.last, true
}

func (t *transfer) left() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last - t.first
}

// copy copies one segment, from src if it is at the right place, otherwise by
// ranged GETs, resuming after cuts.
func (t *transfer) copy(ctx context.Context, segment int64, src *source, buffer []byte) error {
	begin := segment * segmentSize
	at, end := begin, min(begin+segmentSize, t.size)
	var sums local.BlockSummer
	retries, disownments := 0, 0
	for {
		err := t.reach(ctx, src, at, end)
		for err == nil && at < end {
			if err = ctx.Err(); err != nil {
				break // a Body need not look at its context
			}
			var n int
			n, err = src.read(buffer[:min(int64(len(buffer)), end-at)])
			if n > 0 {
				if err := t.s.Write(buffer[:n], at); err != nil {
					return err
				}
				sums.Write(buffer[:n])
				at += int64(n)
				t.f.received.Add(int64(n))
				bump(&t.d.stats.DownloadedBytes, int64(n))
				retries = 0
			}
		}
		if err == nil {
			err = src.finish()
		}
		if err == nil {
			t.mu.Lock()
			t.sums[segment] = sums.Sum()
			t.mu.Unlock()
			return nil
		}
		src.close()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		disowned := at == end
		if disowned && src.from >= begin {
			// The source says that its bytes were wrong: all of this segment goes.
			disowned, at, sums = false, begin, local.BlockSummer{}
			// So they were no progress.
			retries, disownments = disownments, disownments+1
		}
		var again *startOver
		switch {
		case errors.As(err, &again):
			return err
		case isChanged(err):
			return &startOver{err, true}
		case !t.ranged || disowned:
			return &startOver{err, false}
		}
		if err := t.d.pause(ctx, t.f, &retries, err); err != nil {
			return err
		}
	}
}

// reach moves src to the offset at.
func (t *transfer) reach(ctx context.Context, src *source, at, end int64) error {
	if src.body != nil && src.at == at {
		return nil
	}
	src.close()
	result, err := src.open(ctx, t.d.remote, t.f.path, &objectstore.GetOptions{
		Range: objectstore.Bounded(at, end), IfMatch: t.etag,
	}, t.d.stall)
	if err != nil {
		return err
	}
	if result.Body == nil || result.Start != at || result.End != end || result.Meta.Size != t.size || result.Meta.ETag != t.etag {
		src.close()
		return &startOver{fmt.Errorf("remote answered bytes %d to %d of %d with ETag %q for %d to %d of %d with ETag %q",
			result.Start, result.End, result.Meta.Size, result.Meta.ETag, at, end, t.size, t.etag), true}
	}
	return nil
}

// blocks returns the block checksums of the whole object.
func (t *transfer) blocks() []uint32 {
	blocks := make([]uint32, 0, local.BlockCount(t.size))
	for segment := range segmentCount(t.size) {
		blocks = append(blocks, t.sums[segment]...)
	}
	return blocks
}

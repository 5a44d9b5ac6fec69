package mirror

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// parts is the local side of a multipart upload. Parts come in any order and at
// the same time, so the place of one is a guess: all are taken to be as large
// as the first that came, and part n is written where it would then belong in
// the temporary file. A part that does not fit there gets a file of its own. If
// all guesses were right, as they are with the usual clients, the file is
// complete as it is; otherwise the parts are copied together.
type parts struct {
	d          *local.Dir
	s          *local.Staged
	attributes objectstore.Attributes

	bytes atomic.Int64 // of the parts kept

	mu     sync.Mutex
	slot   int64 // the size of the first part
	taken  map[int]bool
	active map[int]int // parts being written, by number
	kept   map[int]*part
	// unsure: it is not known which bytes of a part the remote kept, so the
	// object must be downloaded.
	unsure bool
	failed error // a Local: the upload is aborted
	over   bool
	// expired: the local side is given up, the remote's goes on.
	expired bool
	pins    int       // Completes in progress
	used    time.Time // when a part or Complete began or ended last
	whole   *whole    // of the last Complete, which may be tried again
}

// whole is the local copy that a choice of parts makes.
type whole struct {
	list   []*part
	s      *local.Staged
	size   int64
	blocks []uint32
}

// part is one part that is whole, remotely and locally.
type part struct {
	number int
	w      vfs.Writer
	file   string // full name of a file of its own, or empty
	off    int64
	size   int64
	etag   string
}

// newParts begins the local side of an upload.
func newParts(ctx context.Context, d *local.Dir, path objectstore.Path, attributes objectstore.Attributes) (*parts, error) {
	s, err := d.Stage(ctx, path)
	if err != nil {
		return nil, err
	}
	return &parts{
		d: d, s: s, attributes: attributes.Clone(),
		taken: map[int]bool{}, active: map[int]int{}, kept: map[int]*part{}, used: d.Files.Clock.Now(),
	}, nil
}

// put sends a part to the remote while it is written locally, and keeps it if
// both succeed. It returns the remote's error, or a Local, after which the
// upload must be aborted.
func (p *parts) put(ctx context.Context, number int, body objectstore.Body, send func(objectstore.Body) (etag string, err error)) error {
	if err := body.Validate(); err != nil {
		return err
	}
	to, err := p.begin(ctx, number, body.Size())
	if err != nil {
		return err
	}
	if to == nil {
		_, err := send(body)
		return err
	}
	tee := &tee{write: func(data []byte, off int64) error {
		_, err := to.w.WriteAt(data, to.off+off)
		return local.Fail("write a part to the temporary file", p.s.Path, err)
	}}
	sent := tee.send(body, func(body objectstore.Body) (err error) {
		to.etag, err = send(body)
		return err
	})
	return p.end(to, sent, tee.err)
}

// begin gives a part its place; nil when the local side has expired.
func (p *parts) begin(ctx context.Context, number int, size int64) (*part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed != nil:
		return nil, p.failed
	case p.expired:
		return nil, nil
	case p.over:
		return nil, objectstore.ErrUploadNotFound
	}
	p.used = p.d.Files.Clock.Now()
	to := &part{number: number, size: size}
	if p.slot == 0 {
		p.slot = size
	}
	if !p.taken[number] && size <= p.slot && !p.s.Closed {
		p.taken[number] = true
		to.w, to.off = p.s.W, int64(number-1)*p.slot
	} else {
		to.file = p.d.Join(p.s.Name.Temp(p.d.Counter.Add(1)))
		err := p.d.Files.Spare(ctx, func() (err error) {
			to.w, err = p.d.FS.Create(to.file)
			return err
		})
		if err != nil {
			p.failed = local.Fail("create a temporary file", p.s.Path, err)
			return nil, p.failed
		}
	}
	if p.active[number]++; p.active[number] > 1 {
		p.unsure = true // the remote decides which of the two it keeps
	}
	return to, nil
}

// end keeps a part that was sent and written, and drops any other.
func (p *parts) end(to *part, sent, written error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[to.number]--
	p.used = p.d.Files.Clock.Now()
	switch {
	case p.failed != nil && sent == nil:
		p.drop(to)
		return p.failed
	case sent != nil:
		p.drop(to)
		return sent
	case written != nil:
		p.drop(to)
		if !isLocalFailure(written) {
			return written // the body could not be read
		}
		p.failed = written
		return p.failed
	}
	if old := p.kept[to.number]; old != nil {
		p.bytes.Add(-old.size)
		p.drop(old)
	}
	p.kept[to.number] = to
	p.bytes.Add(to.size)
	return nil
}

// drop removes a part's own file. p.mu is held.
func (p *parts) drop(x *part) {
	if x.file != "" {
		_ = x.w.Close()
		p.d.CleanTemp(p.s.Path, x.file)
		x.file = ""
	}
}

// assemble makes a finished temporary file of the parts chosen, in order, and
// returns it with its size and checksums; nil if it may differ from what the
// remote will have. The error is a Local. It may be called again, also with
// other parts; discarding the file remains the parts' task.
func (p *parts) assemble(ctx context.Context, chosen []objectstore.Part) (*local.Staged, int64, []uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil || p.over {
		return nil, 0, nil, p.failed
	}
	if p.unsure {
		return nil, 0, nil, nil
	}
	list := make([]*part, len(chosen))
	inPlace, size := true, int64(0)
	for i, want := range chosen {
		have := p.kept[want.Number]
		if have == nil || want.ETag != "" && have.etag != want.ETag {
			return nil, 0, nil, nil
		}
		inPlace = inPlace && have.file == "" && have.off == size
		list[i] = have
		size += have.size
	}
	switch w := p.whole; {
	case w != nil && slices.Equal(w.list, list):
		return w.s, w.size, w.blocks, nil
	case w != nil && w.s != p.s:
		w.s.Discard()
		p.whole = nil
	}
	// The file is cut, so it must contain no other part that is still to be read
	// or written.
	w, err := p.join(ctx, list, size, inPlace && len(list) == len(p.kept) && !p.busy() && !p.s.Closed)
	if err != nil {
		return nil, 0, nil, err
	}
	p.whole = w
	return w.s, w.size, w.blocks, nil
}

// busy reports whether parts are being written. p.mu is held.
func (p *parts) busy() bool {
	for _, n := range p.active {
		if n > 0 {
			return true
		}
	}
	return false
}

// join makes the local copy of a list of parts: the file that they are in, when
// inPlace, or another. p.mu is held.
func (p *parts) join(ctx context.Context, list []*part, size int64, inPlace bool) (*whole, error) {
	w := &whole{list: list, s: p.s, size: size}
	if !inPlace {
		var err error
		if w.s, err = p.d.Stage(ctx, p.s.Path); err != nil {
			return nil, err
		}
	}
	shared, err := p.reader(ctx)
	if err == nil {
		w.blocks, err = p.sum(w.s, list, shared, inPlace)
		err = errors.Join(err, shared.Close())
	}
	if err != nil {
		err = local.Fail("copy the parts together", p.s.Path, err)
	} else if err = local.Fail("cut the temporary file", p.s.Path, w.s.W.Truncate(size)); err == nil {
		err = w.s.Finish()
	}
	if err != nil {
		if w.s != p.s {
			w.s.Discard()
		}
		return nil, err
	}
	return w, nil
}

// reader returns what reads the parts that share the temporary file. The caller
// closes it. p.mu is held.
func (p *parts) reader(ctx context.Context) (file vfs.File, err error) {
	if !p.s.Closed {
		return unclosed{p.s.W}, nil
	}
	err = p.d.Files.Spare(ctx, func() (err error) {
		file, err = p.d.FS.Open(p.s.Temp)
		return err
	})
	return file, err
}

// unclosed is a file that is read and stays open.
type unclosed struct{ io.ReaderAt }

func (unclosed) Close() error { return nil }

// sum reads the parts in order, some of them from the file they share, copies them into s unless they are there
// already, and returns the checksums of the blocks of the whole.
func (p *parts) sum(s *local.Staged, list []*part, shared io.ReaderAt, inPlace bool) ([]uint32, error) {
	var sums local.BlockSummer
	buffer := make([]byte, copySize)
	off := int64(0)
	for _, x := range list {
		r := shared
		if x.file != "" {
			r = x.w
		}
		for done := int64(0); done < x.size; {
			data := buffer[:min(copySize, x.size-done)]
			if n, err := r.ReadAt(data, x.off+done); n < len(data) {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			if !inPlace {
				if _, err := s.W.WriteAt(data, off); err != nil {
					return nil, err
				}
			}
			sums.Write(data)
			done += int64(len(data))
			off += int64(len(data))
		}
	}
	return sums.Sum(), nil
}

// all returns the parts kept, in order.
func (p *parts) all() []objectstore.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]objectstore.Part, 0, len(p.kept))
	for _, x := range p.kept {
		all = append(all, objectstore.Part{Number: x.number, ETag: x.etag, Size: x.size})
	}
	slices.SortFunc(all, func(a, b objectstore.Part) int { return a.Number - b.Number })
	return all
}

// discard gives the local side up.
func (p *parts) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// expire gives up the local side of an upload that has rested since a time. It
// reports whether it did; the remote's side goes on.
func (p *parts) expire(since time.Time) bool {
	if !p.mu.TryLock() {
		return false // something is being done with it
	}
	defer p.mu.Unlock()
	if p.over || p.pins > 0 || p.busy() || p.used.After(since) {
		return false
	}
	p.expired = true
	p.clear()
	return true
}

// pin keeps the local side from expiring until the function returned is called.
func (p *parts) pin() (unpin func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.pins--
		p.used = p.d.Files.Clock.Now()
	}
}

// clear gives the local side up. p.mu is held.
func (p *parts) clear() {
	if p.over {
		return
	}
	p.over = true
	for _, number := range slices.Sorted(maps.Keys(p.kept)) {
		p.drop(p.kept[number])
	}
	if p.whole != nil {
		p.whole.s.Discard()
	}
	p.s.Discard()
}

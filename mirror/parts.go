package mirror

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// parts is the local side of a multipart upload. Parts come in any order and
// at the same time, so the place of one is not known for certain: it is taken
// to have the size of the first that came, and part n is written where it then
// belongs in the temporary file. A part that does not fit there has a file of
// its own. When all guesses held, as they do for the usual clients, the file
// is complete as it stands; else the parts are copied together.
type parts struct {
	d          *localDir
	s          *staged
	attributes objectstore.Attributes

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
func (d *localDir) newParts(ctx context.Context, path objectstore.Path, attributes objectstore.Attributes) (*parts, error) {
	s, err := d.stage(ctx, path)
	if err != nil {
		return nil, err
	}
	return &parts{
		d: d, s: s, attributes: attributes.Clone(),
		taken: map[int]bool{}, active: map[int]int{}, kept: map[int]*part{},
	}, nil
}

// put has send send a part to the remote while it is written locally, and
// keeps it when both succeed. It returns the remote's error, or a Local, after
// which the upload is to be aborted.
func (p *parts) put(ctx context.Context, number int, body objectstore.Body, send func(objectstore.Body) (etag string, err error)) error {
	if err := body.Validate(); err != nil {
		return err
	}
	to, err := p.begin(ctx, number, body.Size())
	if err != nil {
		return err
	}
	tee := &tee{write: func(data []byte, off int64) error {
		_, err := to.w.WriteAt(data, to.off+off)
		return local("write a part to the temporary file", p.s.path, err)
	}}
	sent := tee.send(body, func(body objectstore.Body) (err error) {
		to.etag, err = send(body)
		return err
	})
	return p.end(to, sent, tee.err)
}

// begin gives a part its place.
func (p *parts) begin(ctx context.Context, number int, size int64) (*part, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.failed != nil:
		return nil, p.failed
	case p.over:
		return nil, objectstore.ErrUploadNotFound
	}
	to := &part{number: number, size: size}
	if p.slot == 0 {
		p.slot = size
	}
	if !p.taken[number] && size <= p.slot {
		p.taken[number] = true
		to.w, to.off = p.s.w, int64(number-1)*p.slot
	} else {
		to.file = p.d.join(p.s.name.temp(p.d.counter.Add(1)))
		err := p.d.files.spare(ctx, func() (err error) {
			to.w, err = p.d.fs.Create(to.file)
			return err
		})
		if err != nil {
			p.failed = local("create a temporary file", p.s.path, err)
			return nil, p.failed
		}
	}
	if p.active[number]++; p.active[number] > 1 {
		p.unsure = true // the remote decides which of the two it keeps
	}
	return to, nil
}

// end keeps a part, or not.
func (p *parts) end(to *part, sent, written error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[to.number]--
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
		p.drop(old)
	}
	p.kept[to.number] = to
	return nil
}

// drop removes a part's own file. p.mu is held.
func (p *parts) drop(x *part) {
	if x.file != "" {
		_ = x.w.Close()
		p.d.cleanTemp(p.s.path, x.file)
		x.file = ""
	}
}

// assemble makes the temporary file the concatenation of the parts chosen, in
// order, and returns it with its size and checksums; nil when it can't be known
// to be what the remote will have. The file may be longer. The error is a
// Local. The parts stay as they are, so that it may be called again.
func (p *parts) assemble(ctx context.Context, chosen []objectstore.Part) (*staged, int64, []uint32, error) {
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
	s := p.s
	if !inPlace {
		var err error
		if s, err = p.d.stage(ctx, p.s.path); err != nil {
			return nil, 0, nil, err
		}
	}
	blocks, err := p.sum(s, list, inPlace)
	if err != nil {
		if s != p.s {
			s.discard()
		}
		return nil, 0, nil, local("copy the parts together", s.path, err)
	}
	return s, size, blocks, nil
}

// sum reads the parts in order, copies them into s unless they are there
// already, and returns the checksums of the blocks of the whole.
func (p *parts) sum(s *staged, list []*part, inPlace bool) ([]uint32, error) {
	var sums blockSummer
	buffer := make([]byte, copySize)
	off := int64(0)
	for _, x := range list {
		for done := int64(0); done < x.size; {
			data := buffer[:min(copySize, x.size-done)]
			if n, err := x.w.ReadAt(data, x.off+done); n < len(data) {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
			if !inPlace {
				if _, err := s.w.WriteAt(data, off); err != nil {
					return nil, err
				}
			}
			sums.write(data)
			done += int64(len(data))
			off += int64(len(data))
		}
	}
	return sums.sum(), nil
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
	if p.over {
		return
	}
	p.over = true
	for _, number := range slices.Sorted(maps.Keys(p.kept)) {
		p.drop(p.kept[number])
	}
	p.s.discard()
}

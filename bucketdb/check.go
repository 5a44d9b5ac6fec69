package bucketdb

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// maxProblems bounds the problems that a report keeps.
const maxProblems = 1000

// CheckOptions are the options of [Check]. A nil pointer means the zero value.
type CheckOptions struct {
	// Read reads every pack back, and compares every chunk with its digest, and every
	// bundle with the log. Otherwise only the packs' sizes are looked at, in a list.
	Read bool
	// Workers is how many packs are read at a time; zero means the number of
	// processors. Each takes up to 80 MiB of memory.
	Workers int
	// Problem is called for each problem, one call at a time.
	Problem func(error)
	// Progress is called now and then, one call at a time.
	Progress func(Progress)
}

// CheckReport says what a [Check] saw.
type CheckReport struct {
	Batches, Packs, Chunks, Payloads, Transactions int64
	// Stored is the bytes of all packs, Bytes those of the chunks in them.
	Stored, Bytes int64
	// Unnamed is how many packs no batch names: an interrupted push left them.
	// They take space and do no harm; [GC] removes them.
	Unnamed int64
	// Bundles is how many bundles of batches there are.
	Bundles int64
	// Revision is the latest.
	Revision int64
	// Damaged counts the problems; Problems are the first 1000.
	Damaged  int64
	Problems []error
}

// Check reads the log of the database in a store, finds every pack that it
// names, and goes on after what is wrong. The error says what kept the check
// itself from going on. It needs to read and to list. What is pushed meanwhile
// may be missed.
//
// The report is never nil.
func Check(ctx context.Context, store objectstore.Store, options *CheckOptions) (*CheckReport, error) {
	c := &check{report: new(CheckReport), packs: make(map[objectstore.Path]int64)}
	if options != nil {
		c.options = *options
	}
	if c.options.Workers <= 0 {
		c.options.Workers = runtime.GOMAXPROCS(0)
	}
	return c.report, advise(c.run(ctx, store), pullRights)
}

// check is one Check under way.
type check struct {
	options CheckOptions
	bucket  *bucket
	packs   map[objectstore.Path]int64 // sizes of those that are there and not named yet
	sums    []digest.Digest            // of the batches, zero for those that are damaged

	mu     sync.Mutex
	report *CheckReport
}

// found notes a problem. An error that is not about the bucket's content it
// returns, since it ends the check.
func (c *check) found(err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Damaged++
	if len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, err)
	}
	if c.options.Problem != nil {
		c.options.Problem(err)
	}
	return nil
}

func (c *check) run(ctx context.Context, store objectstore.Store) (err error) {
	if c.bucket, err = open(ctx, store); err != nil {
		return c.found(err)
	}
	for meta, err := range store.List(ctx, &objectstore.ListOptions{Prefix: packPrefix}) {
		if err != nil {
			return err
		}
		c.packs[meta.Path] = meta.Size
	}
	last, err := c.lastNumber(ctx)
	if err != nil {
		return err
	}
	compressor, err := batch.NewCompressor()
	if err != nil {
		return err
	}
	defer compressor.Close()
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Workers)
	err = c.log(reading, last, func(l *link, pack int) {
		group.Go(func() error { return c.found(c.read(reading, l, pack, compressor)) })
	})
	if read := group.Wait(); read != nil {
		err = read
	}
	if err == nil {
		err = c.bundles(ctx)
	}
	c.report.Unnamed = int64(len(c.packs))
	return err
}

// lastNumber returns the largest number in the log, wherever there are gaps.
func (c *check) lastNumber(ctx context.Context) (last int64, err error) {
	for meta, err := range c.bucket.store.List(ctx, &objectstore.ListOptions{Prefix: logPrefix}) {
		if err != nil {
			return 0, err
		}
		n, ok := logNumber(meta.Path)
		if !ok {
			err = c.found(damaged("%q in %s is not the name of a batch", meta.Path, c.bucket.store))
		}
		if err != nil {
			return 0, err
		}
		last = max(last, n)
	}
	return last, nil
}

// log checks the batches up to a number, and the packs that they name.
func (c *check) log(ctx context.Context, last int64, read func(*link, int)) error {
	var previous *link
	whole := true // there was no gap before
	for n := int64(1); n <= last; n++ {
		l, err := c.bucket.mustGet(ctx, n)
		c.sums = append(c.sums, digest.Digest{})
		if errors.Is(err, ErrNewer) {
			return err
		}
		if err != nil {
			if err := c.found(err); err != nil {
				return err
			}
			whole = false
			continue
		}
		if whole {
			p := puller{bucket: c.bucket, last: previous}
			if err := c.found(p.follows(l)); err != nil {
				return err
			}
		}
		previous, whole = l, true
		c.sums[n-1] = l.sum
		if err := c.batch(l, read); err != nil {
			return err
		}
	}
	return nil
}

// batch counts what is in a batch, and looks for its packs.
func (c *check) batch(l *link, read func(*link, int)) error {
	c.mu.Lock()
	r := c.report
	r.Batches++
	r.Chunks += int64(len(l.Rows.Chunks))
	r.Payloads += int64(len(l.Rows.Payloads))
	r.Transactions += int64(len(l.Rows.Records))
	r.Revision = l.After.Transaction
	for _, row := range l.Rows.Chunks {
		r.Bytes += row.Size
	}
	c.tell()
	c.mu.Unlock()
	for i, ref := range l.Packs {
		path := packPath(ref.Name)
		size, there := c.packs[path]
		delete(c.packs, path)
		var err error
		switch {
		case !there:
			err = damaged("%q in %s is missing, which %q names: somebody deleted it", path, c.bucket.store, logPath(l.Number))
		case size != ref.Size:
			err = damaged("%q in %s has %d bytes, %d were written", path, c.bucket.store, size, ref.Size)
		}
		if err != nil {
			if err := c.found(err); err != nil {
				return err
			}
			continue
		}
		c.mu.Lock()
		r.Packs++
		r.Stored += size
		c.mu.Unlock()
		if c.options.Read {
			read(l, i)
		}
	}
	return nil
}

// bundles counts the bundles, and compares what is in them with the log.
func (c *check) bundles(ctx context.Context) error {
	for meta, err := range c.bucket.store.List(ctx, &objectstore.ListOptions{Prefix: bundlePrefix}) {
		if err != nil {
			return err
		}
		s, ok := spanOf(meta.Path)
		if !ok {
			continue // a later version's
		}
		c.report.Bundles++
		if !c.options.Read || s.last > int64(len(c.sums)) {
			continue
		}
		if err := c.found(c.bundle(ctx, s)); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) bundle(ctx context.Context, s span) error {
	path := s.path()
	data, err := c.bucket.read(ctx, path)
	if err != nil {
		return err
	}
	u, err := c.bucket.decodeBundle(&s, data)
	if err != nil {
		return err
	}
	for i, data := range u.Batches {
		n := s.first + int64(i)
		if sum := c.sums[n-1]; sum != (digest.Digest{}) && sum != batch.Sum(data) {
			return damaged("%q in %s has another batch %d than the log", path, c.bucket.store, n)
		}
	}
	return nil
}

// tell reports the progress. c.mu is held.
func (c *check) tell() {
	if c.options.Progress != nil {
		r := c.report
		c.options.Progress(Progress{Batches: r.Batches, Chunks: r.Chunks, TotalChunks: r.Chunks, Bytes: r.Bytes, Transactions: r.Transactions})
	}
}

// read compares a pack with its own list and with the batch, and the chunks in it
// with their digests.
func (c *check) read(ctx context.Context, l *link, pack int, compressor *batch.Compressor) error {
	path := packPath(l.Packs[pack].Name)
	data, _, err := objectstore.ReadAll(ctx, c.bucket.store, path)
	if errors.Is(err, objectstore.ErrNotFound) {
		return damaged("%q in %s went away while it was read", path, c.bucket.store)
	}
	if err != nil {
		return err
	}
	listed, err := batch.DecodePack(data)
	if err != nil {
		return objectError(c.bucket.store, path, err)
	}
	own := make(map[int64]batch.Listed, len(listed)) // by offset
	for _, at := range listed {
		own[at.Place.Offset] = at
	}
	for i, place := range l.Places {
		if place.Pack != pack {
			continue
		}
		if err := c.chunk(data, l.Rows.Chunks[i], place, own[place.Offset], compressor); err != nil {
			return damaged("chunk %v in %q of %s: %w", l.Rows.Chunks[i].Digest, path, c.bucket.store, err)
		}
	}
	return nil
}

func (c *check) chunk(pack []byte, row replica.Chunk, place batch.Place, listed batch.Listed, compressor *batch.Compressor) error {
	if listed.Digest != row.Digest || listed.Place.Stored != place.Stored || listed.Place.Codec != place.Codec {
		return errors.New("the pack's own list has something else there")
	}
	data, err := compressor.Open(nil, pack[place.Offset:place.Offset+place.Stored], place.Codec, row.Size)
	if err == nil && digest.Of(data) != row.Digest {
		err = replica.ErrMismatch
	}
	return err
}

package bucketdb

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/objectstore"
)

// GCOptions are the options of [GC]. A nil pointer means the zero value.
type GCOptions struct {
	// Grace is how old a pack must be, by the store's clock, before it goes. It only
	// saves slow pushes from sending packs again: what is written stays right with
	// any. Zero means a day, less than zero none.
	Grace time.Duration
	// DryRun finds what would go, and writes and deletes nothing. Ages are then by the
	// clock Now.
	DryRun bool
	// Workers is how many packs are deleted at a time; zero means 8.
	Workers int
	// Problem is as in PullOptions.
	Problem func(error)
	// Now is the clock for the informative time of a batch. Nil means time.Now.
	Now func() time.Time

	sizes  []int64 // of bundles, for tests
	random io.Reader
}

func (o *GCOptions) normal() GCOptions {
	var n GCOptions
	if o != nil {
		n = *o
	}
	push := (&PushOptions{Now: n.Now, random: n.random}).normal()
	n.Now, n.random = push.Now, push.random
	if n.Grace == 0 {
		n.Grace = 24 * time.Hour
	}
	if n.Workers <= 0 {
		n.Workers = 8
	}
	return n
}

// GCReport says what a [GC] did, or with DryRun would do.
type GCReport struct {
	// Packs is how many packs were deleted, Bytes what they had.
	Packs, Bytes int64
	// Young is how many packs nothing names that are not old enough: a push may be
	// under way that needs them.
	Young int64
	// Named is how many packs the log names, which stay.
	Named int64
}

// GC deletes the packs of the database in a store that no batch names: what pushes
// left that were interrupted, or came too late. It may run beside pushes, pulls and
// other GCs, on any machine with any clock, and be interrupted: before it deletes
// anything, it writes a batch with a horizon. From then on no batch may name a pack
// whose name is not later, so a push that has sent such packs, however slow it is,
// sends them again under new names. It needs to read, list and create, and to delete
// under packs/, and an object of its own under the prefix.
//
// It returns ErrNoDatabase, ErrDamaged when the log is, since what it names is not
// known then, and ErrUnknown when an answer was lost; nothing that is named is deleted
// in any case.
//
// The report is never nil.
func GC(ctx context.Context, store objectstore.Store, options *GCOptions) (*GCReport, error) {
	c := &collection{options: options.normal(), report: new(GCReport), named: make(map[batch.Name]bool)}
	return c.report, advise(c.run(ctx, store), gcRights)
}

// collection is one GC under way.
type collection struct {
	options GCOptions
	report  *GCReport
	bucket  *bucket

	log     puller // its last batch is the last that was read
	named   map[batch.Name]bool
	garbage map[batch.Name]int64 // sizes of the packs that are to go
}

// lastTime is the largest time of a name that is taken for one: that of nobody's
// clock, so that a horizon always leaves room for names behind it.
const lastTime = 1 << 47

func (c *collection) run(ctx context.Context, store objectstore.Store) (err error) {
	if c.bucket, err = open(ctx, store); err != nil {
		return err
	}
	c.bucket.set(c.options.sizes, c.options.Problem)
	c.log.bucket = c.bucket
	if !c.options.DryRun {
		// The horizon is worth as much as the store's word that it replaces nothing.
		if err := c.bucket.recreate(ctx); err != nil {
			return err
		}
	}
	if err := c.read(ctx); err != nil {
		return err
	}
	if err := c.find(ctx); err != nil {
		return err
	}
	if c.options.DryRun {
		for _, size := range c.garbage {
			c.report.Packs++
			c.report.Bytes += size
		}
	} else {
		if err := c.forbid(ctx); err != nil {
			return err
		}
		err = c.remove(ctx)
	}
	c.report.Named = int64(len(c.named))
	return err
}

// forbid sees to it that no later batch names what is garbage, whatever comes in
// between.
func (c *collection) forbid(ctx context.Context) error {
	for len(c.garbage) > 0 {
		if written, err := c.writeHorizon(ctx); written || err != nil {
			return err
		}
		if err := c.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read takes note of what the log names that was not read yet.
func (c *collection) read(ctx context.Context) error {
	head, err := c.bucket.head(ctx)
	if err != nil || head == nil {
		return err
	}
	next := int64(1)
	if c.log.last != nil {
		next = c.log.last.Number + 1
	}
	for l, err := range c.bucket.batches(ctx, next, head.Number) {
		if err != nil {
			return err
		}
		if err := c.log.follows(l); err != nil {
			return err
		}
		c.log.last = l
		for _, p := range l.Packs {
			c.named[p.Name] = true
			delete(c.garbage, p.Name)
		}
	}
	return nil
}

// find lists the packs that no batch names and that are old enough.
func (c *collection) find(ctx context.Context) error {
	c.garbage = make(map[batch.Name]int64)
	ages := make(map[batch.Name]time.Time)
	for meta, err := range c.bucket.store.List(ctx, &objectstore.ListOptions{Prefix: packPrefix}) {
		if err != nil {
			return err
		}
		name, ok := packName(meta.Path)
		if !ok || c.named[name] {
			continue // named, or nothing of ours
		}
		if timeOf(name) >= lastTime {
			c.report.Young++
			continue
		}
		c.garbage[name], ages[name] = meta.Size, meta.LastModified
	}
	if len(c.garbage) == 0 || c.options.Grace < 0 {
		return nil
	}
	now := c.options.Now()
	if !c.options.DryRun {
		var err error
		if now, err = c.storeTime(ctx); err != nil {
			return err
		}
	}
	for name, modified := range ages {
		if now.Sub(modified) < c.options.Grace {
			delete(c.garbage, name)
			c.report.Young++
		}
	}
	return nil
}

// storeTime returns the store's time, by an object that is made for it, and removes
// such objects, and those of first pushes, that were left a day ago.
func (c *collection) storeTime(ctx context.Context) (now time.Time, err error) {
	store := c.bucket.store
	var id [16]byte
	_, _ = io.ReadFull(c.options.random, id[:]) // it never fails
	path := objectstore.Path(probePrefix + hex.EncodeToString(id[:]))
	_, err = store.Put(ctx, path, objectstore.Bytes(nil), &objectstore.PutOptions{Mode: objectstore.Create})
	if err != nil && !errors.Is(err, objectstore.ErrAlreadyExists) { // which a repeated request may meet
		return now, err
	}
	meta, err := objectstore.Head(ctx, store, path)
	if gone := c.delete(context.WithoutCancel(ctx), path); err == nil {
		err = gone
	}
	if err != nil {
		return now, err
	}
	for old, err := range store.List(ctx, &objectstore.ListOptions{Prefix: probePrefix}) {
		if err == nil && meta.LastModified.Sub(old.LastModified) > 24*time.Hour {
			err = c.delete(ctx, old.Path)
		}
		if err != nil {
			return now, err
		}
	}
	return meta.LastModified, nil
}

func (c *collection) delete(ctx context.Context, path objectstore.Path) error {
	err := c.bucket.store.Delete(ctx, path)
	if errors.Is(err, objectstore.ErrNotFound) {
		err = nil
	}
	return err
}

// writeHorizon sees to it that no later batch names what is garbage now. It returns
// false when somebody else's batch came in between.
func (c *collection) writeHorizon(ctx context.Context) (written bool, err error) {
	b := &batch.Batch{Identity: c.bucket.identity, Number: 1, Time: c.options.Now().UTC().Truncate(time.Millisecond)}
	if l := c.log.last; l != nil {
		b.Number, b.Previous, b.Before, b.After, b.Tip, b.Horizon = l.Number+1, l.sum, l.After, l.After, l.Tip, l.Horizon
	}
	reached := true
	for name := range c.garbage {
		if t := timeOf(name); t > b.Horizon {
			b.Horizon, reached = t, false
		}
	}
	if reached {
		return true, nil
	}
	for _, id := range [][]byte{b.Writer[:], b.Nonce[:]} {
		_, _ = io.ReadFull(c.options.random, id) // it never fails
	}
	data := b.Encode()
	if written, err = c.bucket.put(ctx, b.Number, data); written {
		c.log.last = &link{b, data, batch.Sum(data)}
	}
	return written, err
}

// remove deletes what is garbage, the earliest first.
func (c *collection) remove(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.options.Workers)
	gone := make(chan int64, len(c.garbage))
	for _, name := range slices.SortedFunc(maps.Keys(c.garbage), func(a, b batch.Name) int { return bytes.Compare(a[:], b[:]) }) {
		size := c.garbage[name]
		group.Go(func() error {
			if err := c.delete(ctx, packPath(name)); err != nil {
				return fmt.Errorf("delete what no batch names: %w", err)
			}
			gone <- size
			return nil
		})
	}
	err := group.Wait()
	close(gone)
	for size := range gone {
		c.report.Packs++
		c.report.Bytes += size
	}
	return err
}

// packName returns the name of the pack at a path.
func packName(p objectstore.Path) (name batch.Name, ok bool) {
	text, found := cutPrefix(p, packPrefix)
	id, err := ulid.ParseStrict(text)
	name = batch.Name(id)
	return name, found && err == nil && packPath(name) == p
}

// timeOf returns the time that is in a name, in milliseconds. Nothing but the horizon
// goes by it.
func timeOf(name batch.Name) int64 { return int64(ulid.ULID(name).Time()) }

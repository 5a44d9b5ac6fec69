package bucketdb

import (
	"context"
	"iter"
	"sync"
)

// batchesAhead is how many batches are read at a time: they are small, and a store
// takes its time for each. A bundle counts for bundleWeight.
const (
	batchesAhead = 16
	bundleWeight = 8
)

// stretch is a part of the log that is read at once: one batch, or a bundle.
type stretch struct {
	first, last int64
	bundle      *span // nil for one batch
}

func (s *stretch) weight() int {
	if s.bundle != nil {
		return bundleWeight
	}
	return 1
}

// batches yields the batches from one number to another, which are read in advance,
// from bundles where there are any. A missing one is ErrDamaged. A yielded error ends
// them.
func (b *bucket) batches(ctx context.Context, first, last int64) iter.Seq2[*link, error] {
	return func(yield func(*link, error) bool) {
		spans, err := b.spans(ctx, first, last)
		if err != nil {
			yield(nil, err)
			return
		}
		b.stretches(ctx, first, last, spans)(yield)
	}
}

// stretches is batches from these bundles.
func (b *bucket) stretches(ctx context.Context, first, last int64, spans []span) iter.Seq2[*link, error] {
	type result struct {
		links []*link
		err   error
	}
	type reading struct {
		stretch
		done chan result
	}
	return func(yield func(*link, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		var under []reading // way, in order
		weight := 0
		next := first
		for len(under) > 0 || next <= last {
			for next <= last {
				r := reading{nextStretch(next, last, spans), make(chan result, 1)}
				if len(under) > 0 && weight+r.weight() > batchesAhead {
					break
				}
				work.Go(func() {
					links, err := b.readStretch(ctx, &r.stretch)
					r.done <- result{links, err}
				})
				under = append(under, r)
				weight += r.weight()
				next = r.last + 1
			}
			r := <-under[0].done
			weight -= under[0].weight()
			under = under[1:]
			if r.err != nil {
				yield(nil, r.err)
				return
			}
			for _, l := range r.links {
				if !yield(l, nil) {
					return
				}
			}
		}
	}
}

// readStretch reads one batch, or those of a bundle. A bundle that is missing or
// damaged is told as a problem, and the log does instead.
func (b *bucket) readStretch(ctx context.Context, s *stretch) ([]*link, error) {
	if s.bundle == nil {
		l, err := b.mustGet(ctx, s.first)
		return []*link{l}, err
	}
	links, err := b.readBundle(ctx, s.bundle)
	if err == nil {
		return links[s.first-s.bundle.first : s.last-s.bundle.first+1], nil
	}
	if !replaceable(err) {
		return nil, err
	}
	b.tell(err)
	links = nil
	for l, err := range b.stretches(ctx, s.first, s.last, nil) {
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

package bucketdb

import (
	"context"
	"iter"
	"sync"
)

// batchesAhead is how many batches are read at a time: they are small, and a
// store takes a while for each.
const batchesAhead = 16

// batches yields the batches from one number to another, read ahead. A missing
// one is ErrDamaged. A yielded error ends them.
func (b *bucket) batches(ctx context.Context, first, last int64) iter.Seq2[*link, error] {
	type result struct {
		link *link
		err  error
	}
	return func(yield func(*link, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var work sync.WaitGroup
		defer work.Wait()
		defer cancel()
		var under []chan result // way, in order
		next := first
		for len(under) > 0 || next <= last {
			for next <= last && len(under) < batchesAhead {
				n, done := next, make(chan result, 1)
				work.Go(func() {
					l, err := b.mustGet(ctx, n)
					done <- result{l, err}
				})
				under = append(under, done)
				next++
			}
			r := <-under[0]
			under = under[1:]
			if !yield(r.link, r.err) || r.err != nil {
				return
			}
		}
	}
}

package retry

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/stardustdb/stardust/objectstore"
)

// DeleteAll implements objectstore.BulkDeleter. What failed for a transient
// reason, one path or a request for many, is tried again after the others.
func (s *store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		next, stop := iter.Pull(paths)
		defer stop()
		d := &deletion{next: next}
		a := s.attempts(objectstore.OpDeleteAll, "")
		for {
			goOn, failed := d.round(s.Store.DeleteAll(ctx, d.feed), a, yield)
			if failed == nil || !goOn {
				return
			}
			if err := a.again(ctx, failed); err != nil {
				d.giveUp(err, yield)
				return
			}
		}
	}
}

// deletion knows which paths are still to be deleted.
type deletion struct {
	next  func() (objectstore.Path, bool) // those not drawn yet
	again []objectstore.Path              // those to be tried again
	drawn []objectstore.Path              // those given to the store, not yet answered
}

// feed yields the paths of a round: those to be tried again, then the others.
func (d *deletion) feed(yield func(objectstore.Path) bool) {
	for {
		var path objectstore.Path
		if len(d.again) > 0 {
			path, d.again = d.again[0], d.again[1:]
		} else if one, ok := d.next(); ok {
			path = one
		} else {
			return
		}
		d.drawn = append(d.drawn, path)
		if !yield(path) {
			return
		}
	}
}

// round takes the store's answers. It returns false when the consumer has stopped,
// and the error that makes another round needed, if any.
func (d *deletion) round(answers iter.Seq2[objectstore.Path, error], a *attempts, yield func(objectstore.Path, error) bool) (goOn bool, failed error) {
	var again []objectstore.Path
	for path, err := range answers {
		i := slices.Index(d.drawn, path)
		if i < 0 {
			// The request as a whole: what was drawn is open.
			if !objectstore.IsTransient(err) {
				return yield(path, err), nil
			}
			failed = err
			break
		}
		d.drawn = slices.Delete(d.drawn, i, i+1)
		switch {
		case objectstore.IsTransient(err):
			again, failed = append(again, path), err
			continue
		case a.repeated() && errors.Is(err, objectstore.ErrNotFound):
			err = nil
		}
		a.progress()
		if !yield(path, err) {
			return false, nil
		}
	}
	d.again = slices.Concat(d.again, again, d.drawn)
	d.drawn = nil
	return true, failed
}

// giveUp yields err for all paths that are left of those drawn.
func (d *deletion) giveUp(err error, yield func(objectstore.Path, error) bool) {
	if len(d.again) == 0 {
		yield("", err)
		return
	}
	for _, path := range d.again {
		if !yield(path, err) {
			return
		}
	}
}

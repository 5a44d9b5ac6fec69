package commit

import (
	"context"
	"errors"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/tree"
)

// commitGroup writes a group durably and tells each caller the outcome of its
// write.
func (q *Queue) commitGroup(group []*request) {
	pending := runAlone(q.admit(group))
	if len(pending) == 0 {
		return
	}
	if pending = q.flush(pending); len(pending) == 0 {
		return
	}
	err := q.apply(pending)
	if err == nil {
		finish(pending)
		return
	}
	if _, upstream := errors.AsType[*UpstreamError](err); upstream || len(pending) == 1 {
		for _, r := range pending {
			r.fail(err)
		}
		return
	}
	// Something in the group can't be applied. Alone, each write succeeds or
	// fails for its own reasons.
	for _, r := range pending {
		if err := q.apply([]*request{r}); err != nil {
			r.fail(err)
			continue
		}
		finish([]*request{r})
	}
}

// admit refuses writes whose callers gave up, and all while writes are held.
func (q *Queue) admit(group []*request) []*request {
	held := q.Held()
	pending := group[:0]
	for _, r := range group {
		switch err := r.ctx.Err(); {
		case held && !r.always:
			r.fail(ErrHeld)
		case err != nil:
			r.fail(err)
		default:
			pending = append(pending, r)
		}
	}
	return pending
}

// flush makes the chunks durable that the group publishes.
func (q *Queue) flush(group []*request) []*request {
	needed := false
	for _, r := range group {
		needed = needed || r.Chunks
	}
	if !needed {
		return group
	}
	err := q.syncChunks()
	if err == nil {
		return group
	}
	rest := group[:0]
	for _, r := range group {
		if r.Chunks {
			r.fail(err)
		} else {
			rest = append(rest, r)
		}
	}
	return rest
}

// write runs a group in one SQLite transaction. Refused writes get their error
// here; an error returned means that nothing of the group was written here, and
// appended that the upstream has it all the same.
func (q *Queue) write(group []*request) (appended bool, err error) {
	next := q.next
	err = q.catalog.Write(context.Background(), func(tx *catalog.Tx) (err error) {
		var before catalog.Position
		if q.upstream != nil {
			if before, err = tx.Position(); err != nil {
				return err
			}
		}
		now := q.now()
		for _, r := range group {
			r.revision, r.err = 0, nil
			p := &Plan{tx: tx, next: next}
			if err := r.Plan(p); err != nil {
				if !tree.Refused(err) {
					return err
				}
				r.err = err
				continue
			}
			if p.replayed != 0 {
				r.revision, next = p.replayed, p.next
				continue
			}
			if len(p.facts) == 0 {
				continue
			}
			t := p.transaction(now)
			if err := tx.Apply(t); err != nil {
				return err
			}
			r.revision, next = t.ID, p.next
		}
		if q.upstream != nil {
			appended, err = q.appendUpstream(tx, before)
		}
		return err
	})
	if err == nil {
		q.next = next
	}
	return appended, err
}

func (r *request) fail(err error) {
	r.revision, r.err = 0, err
	close(r.finished)
}

func finish(group []*request) {
	for _, r := range group {
		close(r.finished)
	}
}

package commit

import (
	"context"
	"sync"
)

// Hold makes every later write fail with ErrHeld until release is called. It
// returns when all earlier ones are done. Holds add up; release may be called
// more than once.
func (q *Queue) Hold(ctx context.Context) (release func(), err error) {
	q.mu.Lock()
	q.holds++
	q.mu.Unlock()
	release = sync.OnceFunc(func() {
		q.mu.Lock()
		q.holds--
		q.mu.Unlock()
	})
	barrier := &request{ctx: ctx, Write: Write{Plan: func(*Plan) error { return nil }}, always: true}
	if _, err := q.commit(barrier); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// Held reports whether writes are held.
func (q *Queue) Held() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holds > 0
}

package api

import (
	"sync"
	"time"

	"github.com/stardustdb/stardust"
)

// maxTimes bounds how many revisions' times are remembered.
const maxTimes = 1 << 16

// times remembers when transactions were committed, which never changes.
type times struct {
	mu    sync.Mutex
	known map[int64]time.Time
}

// of returns the time of a revision, zero when there is no such transaction.
func (t *times) of(db *stardust.DB, revision int64) (time.Time, error) {
	if revision <= 0 {
		return time.Time{}, nil
	}
	t.mu.Lock()
	at, ok := t.known[revision]
	t.mu.Unlock()
	if ok {
		return at, nil
	}
	for transaction, err := range db.Transactions(revision) {
		if err != nil {
			return time.Time{}, err
		}
		if transaction.ID == revision {
			at = transaction.Time.UTC()
		}
		break
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxTimes {
		t.known = make(map[int64]time.Time)
	}
	t.known[revision] = at
	return at, nil
}

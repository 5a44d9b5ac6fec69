// Package committed tells when a database's revisions were committed.
package committed

import (
	"sync"
	"time"

	"github.com/stardustdb/stardust"
)

// maxTimes bounds how many revisions' times are remembered.
const maxTimes = 1 << 16

// Times remembers when revisions of one database were committed, which never
// changes. The zero value remembers none. It may be used concurrently.
type Times struct {
	mu    sync.Mutex
	known map[int64]time.Time
}

// Of returns the time of a revision in UTC, zero when there is no such
// transaction, and otherwise the errors of [stardust.DB.Transactions].
func (t *Times) Of(db *stardust.DB, revision int64) (time.Time, error) {
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

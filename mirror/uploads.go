package mirror

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// settle forgets the local side of an upload that is over, as the error of its
// last call tells: it was completed, aborted, or is unknown to the remote.
func (m *Mirror) settle(key uploadKey, p *parts, err error, completed bool) {
	if completed || isCommitted(err) || isLocalFailure(err) || errors.Is(err, objectstore.ErrUploadNotFound) {
		if p != nil {
			p.discard()
		}
		m.uploads.remove(key)
	}
}

// uploads are the mirrored uploads in progress.
type uploads struct {
	mu    sync.Mutex
	parts map[uploadKey]*parts
}

// uploadKey names an upload: one of the MultipartStore by its path and id,
// another by the Upload itself.
type uploadKey struct {
	path   objectstore.Path
	id     string
	upload *mirroredUpload
}

func (u *uploads) add(key uploadKey, p *parts) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.parts == nil {
		u.parts = map[uploadKey]*parts{}
	}
	u.parts[key] = p
}

func (u *uploads) get(key uploadKey) *parts {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.parts[key]
}

func (u *uploads) remove(key uploadKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.parts, key)
}

// expire gives up the local sides that have rested since a time, oldest first,
// and returns how many.
func (u *uploads) expire(since time.Time) int {
	n := 0
	for _, x := range u.all() {
		if x.parts.expire(since) {
			n++
			u.remove(x.key)
		}
	}
	return n
}

// totals returns how many there are, and the bytes of their parts.
func (u *uploads) totals() (n int, bytes int64) {
	for _, x := range u.all() {
		n++
		bytes += x.parts.bytes.Load()
	}
	return n, bytes
}

type keyedParts struct {
	key   uploadKey
	parts *parts
}

// all returns all, in the order in which they began.
func (u *uploads) all() []keyedParts {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make([]keyedParts, 0, len(u.parts))
	for key, p := range u.parts {
		all = append(all, keyedParts{key, p})
	}
	slices.SortFunc(all, func(a, b keyedParts) int { return cmp.Compare(a.parts.s.Number, b.parts.s.Number) })
	return all
}

// expireUploads gives up the local sides of uploads that rest for longer than
// UploadTimeout, until ctx ends: their clients are likely gone.
func (m *Mirror) expireUploads(ctx context.Context) {
	timeout := m.options.UploadTimeout
	for m.options.Clock.Sleep(ctx, timeout/4) == nil {
		if n := m.uploads.expire(m.options.Clock.Now().Add(-timeout)); n > 0 {
			m.logger.Warn("giving up the local side of uploads at rest", "uploads", n, "resting_for", timeout)
		}
	}
}

// close discards the local sides of all, in the order in which they began, as a
// simulation needs it. Their remote sides go on.
func (u *uploads) close() {
	for _, x := range u.all() {
		x.parts.discard()
		u.remove(x.key)
	}
}

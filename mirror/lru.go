package mirror

import (
	"container/list"
	"fmt"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// LRU is a Policy that keeps the objects read or written last, up to a number
// of bytes: a whole-file cache. Reads download what isn't local. What is being
// downloaded or read counts only once it is installed, so the disk needs room
// beyond the limit for the downloads in flight. Make one with [NewLRU]; one LRU
// serves one Mirror.
type LRU struct {
	BasePolicy
	limit int64

	mu    sync.Mutex
	order *list.List // of *lruItem, the last used in front
	items map[objectstore.Path]*list.Element
	bytes int64
	// large are some of the objects that are larger than the limit.
	large map[objectstore.Path]struct{}
}

// maxLarge bounds how many large objects an LRU remembers.
const maxLarge = 10_000

type lruItem struct {
	path objectstore.Path
	size int64
}

// NewLRU returns an LRU that keeps up to limit bytes. A larger object gets no
// copy: its reads go to the remote, and nothing is evicted for it. The error is
// an [InvalidConfig].
func NewLRU(limit int64) (*LRU, error) {
	if limit <= 0 {
		return nil, &InvalidConfig{Message: fmt.Sprintf("the limit of an LRU is %d bytes", limit)}
	}
	return &LRU{limit: limit, order: list.New(), items: map[objectstore.Path]*list.Element{}, large: map[objectstore.Path]struct{}{}}, nil
}

// ReadRoute implements Policy.
func (l *LRU) ReadRoute(path objectstore.Path, _ *objectstore.GetOptions) (ReadRoute, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if element := l.items[path]; element != nil {
		l.order.MoveToFront(element)
	} else if _, large := l.large[path]; large {
		return ReadRemote, nil
	}
	return ReadThrough, nil
}

// Admit implements Admitter: what could never stay gets no copy.
func (l *LRU) Admit(path objectstore.Path, size int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if size <= l.limit {
		return true
	}
	if len(l.large) >= maxLarge {
		clear(l.large)
	}
	l.large[path] = struct{}{}
	return false
}

// PutRoute implements Policy.
func (l *LRU) PutRoute(path objectstore.Path, _ *objectstore.PutOptions) (WriteRoute, error) {
	l.forgetSize(path)
	return WriteMirror, nil
}

// MultipartRoute implements Policy.
func (l *LRU) MultipartRoute(path objectstore.Path, _ *objectstore.MultipartOptions) (MultipartRoute, error) {
	l.forgetSize(path)
	return MultipartMirror, nil
}

// forgetSize is for a path that is about to be written: its next object may be
// small.
func (l *LRU) forgetSize(path objectstore.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.large, path)
}

// Installed implements LocalWatcher: it makes room. Copies count until they are
// gone, so those still on their way out are evicted again: an eviction may have
// been canceled.
func (l *LRU) Installed(path objectstore.Path, size int64, mirror Handle) {
	l.mu.Lock()
	l.drop(path)
	if size > l.limit {
		// Of a write, which is mirrored before its size is known here: it goes
		// alone.
		l.items[path] = l.order.PushBack(&lruItem{path, size})
	} else {
		l.items[path] = l.order.PushFront(&lruItem{path, size})
	}
	l.bytes += size
	var surplus []objectstore.Path
	left := l.bytes
	for element := l.order.Back(); element != nil && left > l.limit; element = element.Prev() {
		item := element.Value.(*lruItem)
		left -= item.size
		surplus = append(surplus, item.path)
	}
	l.mu.Unlock()
	mirror.Evict(surplus...)
}

// Removed implements LocalWatcher.
func (l *LRU) Removed(path objectstore.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(path)
}

// drop forgets a path. l.mu is held.
func (l *LRU) drop(path objectstore.Path) {
	if element := l.items[path]; element != nil {
		l.bytes -= l.order.Remove(element).(*lruItem).size
		delete(l.items, path)
	}
}

// Bytes returns the size of the copies that the LRU keeps.
func (l *LRU) Bytes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

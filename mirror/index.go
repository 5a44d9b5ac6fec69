package mirror

import (
	"math"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// entry is a local copy in memory. Its fields never change, those of the open
// file pool aside. It is small on purpose: there may be millions.
type entry struct {
	size       int64
	modified   int64                   // nanoseconds since 1970, or noTime
	labels     string                  // the ETag, then the version
	attributes *objectstore.Attributes // nil: none
	// The files on disk: the startup index is valid only while they are as
	// they were.
	dataTime, metaTime int64 // nanoseconds since 1970
	metaSize           int64
	// idle are this copy's open files that no read uses, opens counts all, and
	// table is there while there are some and reads are verified. The mutex of
	// openFiles guards these and retired.
	idle     *handle
	table    *blockTable
	opens    int32
	etagSize int32
	hashed   bool // the form of the local name
	retired  bool // replaced or removed: its files are not to be kept open
}

// noTime stands for the zero time.Time, which has no nanoseconds.
const noTime = math.MinInt64

func newEntry(md metadata) *entry {
	e := &entry{size: md.size, modified: noTime, labels: md.etag + md.version, etagSize: int32(len(md.etag))}
	if !md.modified.IsZero() {
		e.modified = md.modified.UnixNano()
	}
	if !isZeroAttributes(md.attributes) {
		attributes := md.attributes.Clone()
		e.attributes = &attributes
	}
	return e
}

// isOf reports whether the copy is of the object with an ETag, which may be
// empty: unknown.
func (e *entry) isOf(etag string) bool { return etag != "" && e.etag() == etag }

func (e *entry) etag() string    { return e.labels[:e.etagSize] }
func (e *entry) version() string { return e.labels[e.etagSize:] }

// meta returns what the entry says about the object at path.
func (e *entry) meta(path objectstore.Path) objectstore.ObjectMeta {
	meta := objectstore.ObjectMeta{Path: path, Size: e.size, ETag: e.etag(), Version: e.version()}
	if e.modified != noTime {
		meta.LastModified = time.Unix(0, e.modified).UTC()
	}
	return meta
}

// index is the in-memory map of local copies.
type index struct {
	mu      sync.RWMutex
	entries map[objectstore.Path]*entry
	bytes   int64
	changes uint64
	// common are attributes that several entries share: most objects of a store
	// have the same Content-Type.
	common map[attributesKey]*objectstore.Attributes
}

// maxCommon bounds the attributes that are shared.
const maxCommon = 1024

type attributesKey struct{ contentType, encoding, disposition, language, cache string }

func newIndex() *index {
	return &index{entries: map[objectstore.Path]*entry{}, common: map[attributesKey]*objectstore.Attributes{}}
}

// get returns the entry of a path, or nil.
func (x *index) get(path objectstore.Path) *entry {
	x.mu.RLock()
	e := x.entries[path]
	x.mu.RUnlock()
	return e
}

// put makes e the entry of path and returns the one before, or nil.
func (x *index) put(path objectstore.Path, e *entry) *entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	e.attributes = x.share(e.attributes)
	old := x.entries[path]
	if old != nil {
		x.bytes -= old.size
	}
	x.entries[path] = e
	x.bytes += e.size
	x.changes++
	return old
}

// share returns attributes like a, the same for entries that have the same.
// Nobody changes them. x.mu is held.
func (x *index) share(a *objectstore.Attributes) *objectstore.Attributes {
	if a == nil || len(a.Metadata) > 0 {
		return a
	}
	key := attributesKey{a.ContentType, a.ContentEncoding, a.ContentDisposition, a.ContentLanguage, a.CacheControl}
	if known := x.common[key]; known != nil {
		return known
	}
	if len(x.common) < maxCommon {
		x.common[key] = a
	}
	return a
}

// remove removes the entry of path: any when only is nil, else that one. It
// returns what it removed, or nil.
func (x *index) remove(path objectstore.Path, only *entry) *entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.entries[path]
	if old == nil || only != nil && old != only {
		return nil
	}
	delete(x.entries, path)
	x.bytes -= old.size
	x.changes++
	return old
}

// totals returns the number of entries, their bytes, and a number that changes
// with every change.
func (x *index) totals() (objects, bytes int64, changes uint64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int64(len(x.entries)), x.bytes, x.changes
}

// indexed is an entry with its path.
type indexed struct {
	path  objectstore.Path
	entry *entry
}

// all returns the entries, in no order.
func (x *index) all() []indexed {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]indexed, 0, len(x.entries))
	for path, e := range x.entries {
		all = append(all, indexed{path, e})
	}
	return all
}

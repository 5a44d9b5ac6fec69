package local

import (
	"math"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// Entry is a local copy in memory. Its fields never change, those of the open
// file pool aside. It is small on purpose: there may be millions.
type Entry struct {
	Size       int64
	modified   int64                   // nanoseconds since 1970, or noTime
	labels     string                  // the ETag, then the version
	Attributes *objectstore.Attributes // nil: none
	// The files on disk: the startup index is valid only while they are as
	// they were.
	dataTime, metaTime int64 // nanoseconds since 1970
	metaSize           int64
	// idle are this copy's open files that no read uses, opens counts all, and
	// table is there while there are some and reads are verified. The mutex of
	// OpenFiles guards these and retired.
	idle     *Handle
	table    *BlockTable
	opens    int32
	etagSize int32
	hashed   bool // the form of the local name
	retired  bool // replaced or removed: its files are not to be kept open
}

// noTime stands for the zero time.Time, which has no nanoseconds.
const noTime = math.MinInt64

func newEntry(md Metadata) *Entry {
	e := &Entry{Size: md.Size, modified: noTime, labels: md.ETag + md.Version, etagSize: int32(len(md.ETag))}
	if !md.Modified.IsZero() {
		e.modified = md.Modified.UnixNano()
	}
	if !isZeroAttributes(md.Attributes) {
		attributes := md.Attributes.Clone()
		e.Attributes = &attributes
	}
	return e
}

// IsOf reports whether the copy is of the object with an ETag, which may be
// empty: unknown.
func (e *Entry) IsOf(etag string) bool { return etag != "" && e.ETag() == etag }

// ETag returns the object's ETag, or "".
func (e *Entry) ETag() string { return e.labels[:e.etagSize] }

// Version returns the object's version, or "".
func (e *Entry) Version() string { return e.labels[e.etagSize:] }

// Meta returns what the entry says about the object at path.
func (e *Entry) Meta(path objectstore.Path) objectstore.ObjectMeta {
	meta := objectstore.ObjectMeta{Path: path, Size: e.Size, ETag: e.ETag(), Version: e.Version()}
	if e.modified != noTime {
		meta.LastModified = time.Unix(0, e.modified).UTC()
	}
	return meta
}

// Index is the in-memory map of local copies.
type Index struct {
	mu      sync.RWMutex
	entries map[objectstore.Path]*Entry
	bytes   int64
	changes uint64
	// common are attributes that several entries share: most objects of a store
	// have the same Content-Type.
	common map[attributesKey]*objectstore.Attributes
}

// maxCommon bounds the attributes that are shared.
const maxCommon = 1024

type attributesKey struct{ contentType, encoding, disposition, language, cache string }

func newIndex() *Index {
	return &Index{entries: map[objectstore.Path]*Entry{}, common: map[attributesKey]*objectstore.Attributes{}}
}

// Get returns the entry of a path, or nil.
func (x *Index) Get(path objectstore.Path) *Entry {
	x.mu.RLock()
	e := x.entries[path]
	x.mu.RUnlock()
	return e
}

// put makes e the entry of path and returns the one before, or nil.
func (x *Index) put(path objectstore.Path, e *Entry) *Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	e.Attributes = x.share(e.Attributes)
	old := x.entries[path]
	if old != nil {
		x.bytes -= old.Size
	}
	x.entries[path] = e
	x.bytes += e.Size
	x.changes++
	return old
}

// share returns attributes like a, the same for entries that have the same.
// Nobody changes them. x.mu is held.
func (x *Index) share(a *objectstore.Attributes) *objectstore.Attributes {
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
func (x *Index) remove(path objectstore.Path, only *Entry) *Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.entries[path]
	if old == nil || only != nil && old != only {
		return nil
	}
	delete(x.entries, path)
	x.bytes -= old.Size
	x.changes++
	return old
}

// Totals returns the number of entries, their bytes, and a number that changes
// with every change.
func (x *Index) Totals() (objects, bytes int64, changes uint64) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return int64(len(x.entries)), x.bytes, x.changes
}

// Indexed is an entry with its path.
type Indexed struct {
	Path  objectstore.Path
	Entry *Entry
}

// All returns the entries, in no order.
func (x *Index) All() []Indexed {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]Indexed, 0, len(x.entries))
	for path, e := range x.entries {
		all = append(all, Indexed{path, e})
	}
	return all
}

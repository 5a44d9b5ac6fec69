package s3

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/uploads"
)

// bucket is a Store under its name.
type bucket struct {
	name    string
	store   objectstore.Store
	uploads objectstore.MultipartStore
	created time.Time
	dynamic bool // made by Options.CreateBucket
	// elsewhere says that Options.OpenBucket opened it, so it may be gone.
	elsewhere bool
}

// bucketSet holds the buckets of a Handler. It is safe for concurrent use.
type bucketSet struct {
	mu     sync.RWMutex
	byName map[string]*bucket
}

// get returns the bucket of that name.
func (s *bucketSet) get(name string) (*bucket, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.byName[name]; b != nil {
		return b, nil
	}
	return nil, noSuchBucket(name)
}

// bucket returns the bucket of that name, which may have been made elsewhere.
func (h *Handler) bucket(ctx context.Context, name string) (*bucket, error) {
	b, err := h.buckets.get(name)
	if err == nil || h.options.OpenBucket == nil {
		return b, err
	}
	h.creating.Lock()
	defer h.creating.Unlock()
	if b, err := h.buckets.get(name); err == nil {
		return b, nil
	}
	store, err := h.options.OpenBucket(ctx, name)
	switch {
	case errors.Is(err, objectstore.ErrNoBucket):
		return nil, noSuchBucket(name)
	case err != nil:
		return nil, err
	}
	b = h.newBucket(name, store, true)
	b.elsewhere = true
	h.buckets.add(b)
	return b, nil
}

// listBuckets returns all buckets by name, those made elsewhere included.
func (h *Handler) listBuckets(ctx context.Context) ([]*bucket, error) {
	all := h.buckets.list()
	if h.options.ListBuckets == nil {
		return all, nil
	}
	names, err := h.options.ListBuckets(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(b *bucket) bool { return b.elsewhere })
	for name, created := range names {
		if validBucketName(name) && !slices.ContainsFunc(all, func(b *bucket) bool { return b.name == name }) {
			all = append(all, &bucket{name: name, created: created})
		}
	}
	slices.SortFunc(all, func(x, y *bucket) int { return strings.Compare(x.name, y.name) })
	return all, nil
}

func noSuchBucket(name string) *Failure {
	return s3err.NoSuchBucket.New().With("BucketName", name)
}

// add adds a bucket. There is none of its name.
func (s *bucketSet) add(b *bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[b.name] = b
}

// remove takes b out, or reports that it is gone already.
func (s *bucketSet) remove(b *bucket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName[b.name] != b {
		return false
	}
	delete(s.byName, b.name)
	return true
}

// list returns the buckets by name.
func (s *bucketSet) list() []*bucket {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*bucket, 0, len(s.byName))
	for _, b := range s.byName {
		all = append(all, b)
	}
	slices.SortFunc(all, func(x, y *bucket) int { return strings.Compare(x.name, y.name) })
	return all
}

// newBucket makes a bucket of a store.
func (h *Handler) newBucket(name string, store objectstore.Store, dynamic bool) *bucket {
	b := &bucket{name: name, store: store, created: h.options.Clock(), dynamic: dynamic}
	if multipart, ok := store.(objectstore.MultipartStore); ok {
		b.uploads = multipart
	} else {
		b.uploads = uploads.NewTable(store, &uploads.Options{
			Limit: h.options.MaxUploads, TTL: h.options.UploadTTL, Now: h.options.Clock,
		})
	}
	return b
}

// close aborts the uploads that only this process knows.
func (b *bucket) close(ctx context.Context) error {
	if table, ok := b.uploads.(*uploads.Table); ok {
		return table.Close(ctx)
	}
	return nil
}

// validBucketName reports whether the name follows S3's rules.
func validBucketName(name string) bool {
	if len(name) < 3 || len(name) > 63 {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case c == '-' || c == '.':
			if i == 0 || i == len(name)-1 || (c == '.' && name[i-1] == '.') {
				return false
			}
		default:
			return false
		}
	}
	return !allDigitsAndDots(name) && !strings.HasPrefix(name, "xn--") && !strings.HasSuffix(name, "-s3alias")
}

// allDigitsAndDots reports whether a name may be taken for an IPv4 address.
func allDigitsAndDots(name string) bool {
	return strings.Count(name, ".") == 3 && strings.Trim(name, "0123456789.") == ""
}

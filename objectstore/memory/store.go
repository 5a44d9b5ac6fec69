package memory

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// Options are the options of [New]. Nil means the zero value.
type Options struct {
	// Name is what String returns; empty means "memory".
	Name string
	// Now is the clock of LastModified; nil means time.Now.
	Now func() time.Time
	// MinPartSize is the least size in bytes of every part of a multipart
	// upload but the last; S3's is 5 MiB. Zero means none.
	MinPartSize int64
}

// Store keeps objects in memory. It implements [objectstore.MultipartStore],
// [objectstore.BulkDeleter] and [objectstore.TagReader], may be used
// concurrently, and needs no closing. Rename is atomic. Bodies that it returns
// are io.ReadSeeker and io.ReaderAt.
//
// Two stores that get the same calls behave the same way, upload ids included,
// so a simulation that uses one is deterministic.
type Store struct {
	options Options

	mu      sync.RWMutex
	objects map[objectstore.Path]*object
	// sorted holds all objects in the order of their paths; nil when a change
	// has made it stale. A list goes on over the slice that it began with.
	sorted  []*object
	uploads map[string]*upload
	lastID  int64
}

var (
	_ objectstore.MultipartStore     = (*Store)(nil)
	_ objectstore.BulkDeleter        = (*Store)(nil)
	_ objectstore.TagReader          = (*Store)(nil)
	_ objectstore.ConditionalDeleter = (*Store)(nil)
)

// object never changes once it is in the store.
type object struct {
	meta       objectstore.ObjectMeta
	attributes objectstore.Attributes
	tags       map[string]string
	data       []byte
}

// New returns an empty Store.
func New(options *Options) *Store {
	s := &Store{objects: map[objectstore.Path]*object{}, uploads: map[string]*upload{}}
	if options != nil {
		s.options = *options
	}
	if s.options.Name == "" {
		s.options.Name = "memory"
	}
	if s.options.Now == nil {
		s.options.Now = time.Now //nolint:forbidigo // the default clock
	}
	return s
}

// String returns the store's name.
func (s *Store) String() string { return s.options.Name }

// Get implements objectstore.Store.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	result, err := s.get(ctx, path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

func (s *Store) get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	s.mu.RLock()
	o := s.objects[path]
	s.mu.RUnlock()
	if o == nil || options.Version != "" {
		return nil, objectstore.ErrNotFound
	}
	if err := options.Check(o.meta); err != nil {
		return nil, err
	}
	start, end, err := options.Range.Resolve(o.meta.Size)
	if err != nil {
		return nil, err
	}
	result := &objectstore.GetResult{Meta: o.meta, Attributes: o.attributes.Clone(), Start: start, End: end}
	if !options.Head {
		result.Body = body{bytes.NewReader(o.data[start:end])}
	}
	return result, nil
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

var (
	_ io.ReaderAt   = body{}
	_ io.ReadSeeker = body{}
)

// Put implements objectstore.Store.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	result, err := s.put(ctx, path, body, options)
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	return result, nil
}

func (s *Store) put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if err := errors.Join(check(ctx, path), options.Mode.Validate(options.UpdateVersion)); err != nil {
		return nil, err
	}
	data, err := body.ReadAll()
	if err != nil {
		return nil, err
	}
	sum := md5.Sum(data)
	o := &object{
		attributes: options.Attributes.Clone(),
		tags:       maps.Clone(options.Tags),
		// The caller may reuse what it gave once Put has returned.
		data: bytes.Clone(data),
	}
	o.meta = objectstore.ObjectMeta{Path: path, Size: int64(len(data)), ETag: hex.EncodeToString(sum[:])}
	// The body may have taken long: a caller that gave up meanwhile must not
	// find its object stored.
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.install(o, options.Mode, options.UpdateVersion)
}

// install makes o the object at its path when the conditions allow it. s.mu is
// held.
func (s *Store) install(o *object, mode objectstore.PutMode, update objectstore.UpdateVersion) (*objectstore.PutResult, error) {
	var current *objectstore.ObjectMeta
	if old := s.objects[o.meta.Path]; old != nil {
		current = &old.meta
	}
	if err := mode.Check(update, current); err != nil {
		return nil, err
	}
	o.meta.LastModified = s.options.Now()
	s.objects[o.meta.Path] = o
	s.sorted = nil
	return &objectstore.PutResult{ETag: o.meta.ETag}, nil
}

// Delete implements objectstore.Store; it returns ErrNotFound when there is no
// object.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	return s.DeleteMatching(ctx, path, "*")
}

// DeleteMatching implements objectstore.ConditionalDeleter.
func (s *Store) DeleteMatching(ctx context.Context, path objectstore.Path, etag string) error {
	err := check(ctx, path)
	if err == nil {
		err = s.remove(path, etag)
	}
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	return nil
}

// remove deletes the object at path if its ETag matches.
func (s *Store) remove(path objectstore.Path, etag string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[path]
	switch {
	case o == nil:
		return objectstore.ErrNotFound
	case !objectstore.MatchETag(etag, o.meta.ETag):
		return fmt.Errorf("%w: ETag is %q, not %q", objectstore.ErrPrecondition, o.meta.ETag, etag)
	}
	delete(s.objects, path)
	s.sorted = nil
	return nil
}

// DeleteAll implements objectstore.BulkDeleter.
func (s *Store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		for path := range paths {
			err := s.Delete(ctx, path)
			if errors.Is(err, objectstore.ErrNotFound) {
				err = nil
			}
			if !yield(path, err) {
				return
			}
		}
	}
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	if err := check(ctx, path); err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	o := s.objects[path]
	if o == nil {
		return nil, s.fail(objectstore.OpTags, path, objectstore.ErrNotFound)
	}
	return maps.Clone(o.tags), nil
}

// snapshot returns all objects in order. The slice must not be changed.
func (s *Store) snapshot() []*object {
	s.mu.RLock()
	sorted := s.sorted
	s.mu.RUnlock()
	if sorted != nil {
		return sorted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sorted == nil {
		s.sorted = slices.AppendSeq(make([]*object, 0, len(s.objects)), maps.Values(s.objects))
		slices.SortFunc(s.sorted, func(a, b *object) int {
			return strings.Compare(string(a.meta.Path), string(b.meta.Path))
		})
	}
	return s.sorted
}

func (s *Store) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: s.options.Name, Path: string(path), Err: err}
}

func check(ctx context.Context, path objectstore.Path) error {
	return objectstore.CheckPaths(ctx, nil, path)
}

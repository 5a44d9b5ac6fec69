package uploads

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// ErrTooMany is the error of an upload that a full table has no room for.
var ErrTooMany = errors.New("too many multipart uploads in progress")

// Options are the options of [NewTable]. A nil value, and zero fields, have the
// defaults that the comments name.
type Options struct {
	// Limit bounds the uploads in progress; 1000.
	Limit int
	// TTL is how long an upload may rest before a new one may take its place in
	// a full table; a day.
	TTL time.Duration
	// Now tells the time; time.Now.
	Now func() time.Time
}

// Table is a [objectstore.MultipartStore] over a Store. It is safe for concurrent
// use.
type Table struct {
	objectstore.Store
	options Options

	mu   sync.Mutex
	byID map[string]*namedUpload
}

// namedUpload is an upload in the table.
type namedUpload struct {
	path      objectstore.Path
	id        string
	upload    objectstore.Upload
	initiated time.Time

	// busy is held for reading by every part in transit and for writing by
	// Complete and Abort, which must not overlap with parts.
	busy sync.RWMutex

	mu      sync.Mutex
	touched time.Time
	parts   map[int]objectstore.Part
	ended   bool
}

// NewTable returns a table of the uploads on store, which stays the caller's. Close
// the table first.
func NewTable(store objectstore.Store, options *Options) *Table {
	t := &Table{Store: store, byID: make(map[string]*namedUpload)}
	if options != nil {
		t.options = *options
	}
	if t.options.Limit == 0 {
		t.options.Limit = 1000
	}
	if t.options.TTL == 0 {
		t.options.TTL = 24 * time.Hour
	}
	if t.options.Now == nil {
		t.options.Now = time.Now //nolint:forbidigo // the default clock
	}
	return t
}

func (t *Table) fail(op string, path objectstore.Path, err error) error {
	return &objectstore.Error{Op: op, Store: t.String(), Path: string(path), Err: err}
}

// CreateMultipart implements objectstore.MultipartStore. It returns [ErrTooMany] when
// the table is full of uploads that did not rest long enough.
func (t *Table) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if err := t.makeRoom(ctx, path); err != nil {
		return "", err
	}
	upload, err := t.PutMultipart(ctx, path, options)
	if err != nil {
		return "", err
	}
	now := t.options.Now()
	u := &namedUpload{
		path: path, id: rand.Text(), upload: upload, initiated: now,
		touched: now, parts: make(map[int]objectstore.Part),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[u.id] = u
	return u.id, nil
}

// makeRoom aborts one upload at rest for too long when the table is full.
func (t *Table) makeRoom(ctx context.Context, path objectstore.Path) error {
	t.mu.Lock()
	var oldest *namedUpload
	if len(t.byID) >= t.options.Limit {
		for _, u := range t.byID {
			if oldest == nil || u.lastTouched().Before(oldest.lastTouched()) {
				oldest = u
			}
		}
	}
	t.mu.Unlock()
	if oldest == nil {
		return nil
	}
	if t.options.Now().Sub(oldest.lastTouched()) < t.options.TTL {
		return t.fail(objectstore.OpCreateMultipart, path, fmt.Errorf("%w: %d", ErrTooMany, t.options.Limit))
	}
	return t.AbortMultipart(ctx, oldest.path, oldest.id)
}

func (u *namedUpload) lastTouched() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.touched
}

// find returns an upload and keeps it from ending until unlock is called.
func (t *Table) find(path objectstore.Path, id string) (u *namedUpload, unlock func(), err error) {
	t.mu.Lock()
	u = t.byID[id]
	t.mu.Unlock()
	if u == nil || u.path != path {
		return nil, nil, objectstore.ErrUploadNotFound
	}
	u.busy.RLock()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		u.busy.RUnlock()
		return nil, nil, objectstore.ErrUploadNotFound
	}
	u.touched = t.options.Now()
	return u, u.busy.RUnlock, nil
}

// UploadPart implements objectstore.MultipartStore. A part's ETag is the MD5 of
// its bytes.
func (t *Table) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	u, unlock, err := t.find(path, id)
	if err != nil {
		return objectstore.Part{}, t.fail(objectstore.OpUploadPart, path, err)
	}
	defer unlock()
	sum := &summingReader{r: body.Open(), hash: md5.New()}
	if err := u.upload.PutPart(ctx, number, objectstore.Stream(sum, body.Size())); err != nil {
		return objectstore.Part{}, err
	}
	part := objectstore.Part{
		Number: number, ETag: hex.EncodeToString(sum.hash.Sum(nil)),
		Size: body.Size(), LastModified: t.options.Now(),
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts[number] = part
	return part, nil
}

type summingReader struct {
	r    io.Reader
	hash hash.Hash
}

// Read implements io.Reader.
func (s *summingReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.hash.Write(p[:n])
	return n, err
}

// CompleteMultipart implements objectstore.MultipartStore. An Upload takes its
// conditions at the start and publishes all its parts, so a condition here,
// and a list that leaves a part out, are refused.
func (t *Table) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if options != nil && options.Mode != objectstore.Overwrite {
		return nil, t.fail(objectstore.OpCompleteMultipart, path, fmt.Errorf("%w: a condition on completing an upload", objectstore.ErrUnsupported))
	}
	u, err := t.end(path, id, func(u *namedUpload) error {
		if len(parts) != len(u.parts) {
			return fmt.Errorf("%w: %d parts uploaded, %d named", objectstore.ErrInvalidPart, len(u.parts), len(parts))
		}
		for _, part := range parts {
			if u.parts[part.Number].ETag != part.ETag {
				return fmt.Errorf("%w: part %d", objectstore.ErrInvalidPart, part.Number)
			}
		}
		return nil
	})
	if err != nil {
		return nil, t.fail(objectstore.OpCompleteMultipart, path, err)
	}
	defer u.busy.Unlock()
	result, err := u.upload.Complete(ctx)
	if err != nil {
		u.ended = false // it may be tried again, or aborted
		return nil, err
	}
	t.forget(u)
	return result, nil
}

// AbortMultipart implements objectstore.MultipartStore.
func (t *Table) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	u, err := t.end(path, id, func(*namedUpload) error { return nil })
	if err != nil {
		return t.fail(objectstore.OpAbortMultipart, path, err)
	}
	defer u.busy.Unlock()
	t.forget(u)
	return u.upload.Abort(ctx)
}

// end waits for the parts in transit and marks the upload as ended, when check
// agrees. It returns with u.busy held for writing.
func (t *Table) end(path objectstore.Path, id string, check func(*namedUpload) error) (*namedUpload, error) {
	t.mu.Lock()
	u := t.byID[id]
	t.mu.Unlock()
	if u == nil || u.path != path {
		return nil, objectstore.ErrUploadNotFound
	}
	u.busy.Lock()
	u.mu.Lock()
	defer u.mu.Unlock()
	err := check(u)
	if u.ended {
		err = objectstore.ErrUploadNotFound
	}
	if err != nil {
		u.busy.Unlock()
		return nil, err
	}
	u.ended = true
	return u, nil
}

func (t *Table) forget(u *namedUpload) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, u.id)
}

// ListParts implements objectstore.MultipartStore.
func (t *Table) ListParts(_ context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		u, unlock, err := t.find(path, id)
		if err != nil {
			yield(objectstore.Part{}, t.fail(objectstore.OpListParts, path, err))
			return
		}
		u.mu.Lock()
		parts := slices.SortedFunc(maps.Values(u.parts), func(a, b objectstore.Part) int { return a.Number - b.Number })
		u.mu.Unlock()
		unlock()
		for _, part := range parts {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// ListMultiparts implements objectstore.MultipartStore.
func (t *Table) ListMultiparts(_ context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		t.mu.Lock()
		var uploads []objectstore.MultipartUpload
		for _, u := range t.byID {
			if strings.HasPrefix(string(u.path), prefix) {
				uploads = append(uploads, objectstore.MultipartUpload{Path: u.path, ID: u.id, Initiated: u.initiated})
			}
		}
		t.mu.Unlock()
		slices.SortFunc(uploads, objectstore.MultipartUpload.Compare)
		for _, u := range uploads {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// Close aborts all uploads. It leaves the Store open.
func (t *Table) Close(ctx context.Context) error {
	t.mu.Lock()
	uploads := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	var errs []error
	for _, u := range uploads {
		if err := t.AbortMultipart(ctx, u.path, u.id); !errors.Is(err, objectstore.ErrUploadNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

package memory

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// upload is guarded by Store.mu.
type upload struct {
	path       objectstore.Path
	sequence   int64
	initiated  time.Time
	attributes objectstore.Attributes
	tags       map[string]string
	parts      map[int]part
}

type part struct {
	data     []byte
	sum      [md5.Size]byte
	modified time.Time
}

func (p part) etag() string { return hex.EncodeToString(p.sum[:]) }

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, s, path, options)
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	if err := check(ctx, path); err != nil {
		return "", s.fail(objectstore.OpCreateMultipart, path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	id := "upload-" + strconv.FormatInt(s.lastID, 10)
	s.uploads[id] = &upload{
		path: path, sequence: s.lastID, initiated: s.options.Now(),
		attributes: options.Attributes.Clone(), tags: maps.Clone(options.Tags),
		parts: map[int]part{},
	}
	return id, nil
}

// UploadPart implements objectstore.MultipartStore.
func (s *Store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	result, err := s.uploadPart(ctx, path, id, number, body)
	if err != nil {
		return objectstore.Part{}, s.fail(objectstore.OpUploadPart, path, err)
	}
	return result, nil
}

func (s *Store) uploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	if err := check(ctx, path); err != nil {
		return objectstore.Part{}, err
	}
	if err := objectstore.CheckPartNumber(number); err != nil {
		return objectstore.Part{}, err
	}
	s.mu.RLock()
	_, err := s.find(path, id)
	s.mu.RUnlock()
	if err != nil {
		return objectstore.Part{}, err
	}
	data, err := body.ReadAll()
	if err != nil {
		return objectstore.Part{}, err
	}
	p := part{data: bytes.Clone(data), sum: md5.Sum(data)}
	if err := ctx.Err(); err != nil {
		return objectstore.Part{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.find(path, id)
	if err != nil {
		return objectstore.Part{}, err
	}
	p.modified = s.options.Now()
	u.parts[number] = p
	return objectstore.Part{Number: number, ETag: p.etag(), Size: int64(len(p.data))}, nil
}

// CompleteMultipart implements objectstore.MultipartStore.
func (s *Store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.CompleteOptions{}
	}
	if err := errors.Join(check(ctx, path), options.Mode.Validate(options.UpdateVersion)); err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.find(path, id)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	o, err := u.join(parts, s.options.MinPartSize)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	o.attributes = o.attributes.WithMetadata(options.Metadata)
	result, err := s.install(o, options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	delete(s.uploads, id)
	return result, nil
}

// join returns the object that the parts make.
func (u *upload) join(parts []objectstore.Part, minSize int64) (*object, error) {
	err := objectstore.CheckParts(parts, minSize, func(number int) (objectstore.Part, bool, error) {
		p, ok := u.parts[number]
		return objectstore.Part{Number: number, ETag: p.etag(), Size: int64(len(p.data))}, ok, nil
	})
	if err != nil {
		return nil, err
	}
	var data []byte
	sums := md5.New()
	for _, want := range parts {
		p := u.parts[want.Number]
		data = append(data, p.data...)
		sums.Write(p.sum[:])
	}
	return &object{
		meta: objectstore.ObjectMeta{
			Path: u.path, Size: int64(len(data)),
			ETag: hex.EncodeToString(sums.Sum(nil)) + "-" + strconv.Itoa(len(parts)),
		},
		attributes: u.attributes, tags: u.tags, data: data,
	}, nil
}

// AbortMultipart implements objectstore.MultipartStore. It returns
// ErrUploadNotFound for an unknown id.
func (s *Store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	if err := check(ctx, path); err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.find(path, id); err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	delete(s.uploads, id)
	return nil
}

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		parts, err := s.listParts(ctx, path, id)
		if err != nil {
			yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err))
			return
		}
		for _, p := range parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (s *Store) listParts(ctx context.Context, path objectstore.Path, id string) ([]objectstore.Part, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	u, err := s.find(path, id)
	if err != nil {
		return nil, err
	}
	var parts []objectstore.Part
	for _, number := range slices.Sorted(maps.Keys(u.parts)) {
		p := u.parts[number]
		parts = append(parts, objectstore.Part{Number: number, ETag: p.etag(), Size: int64(len(p.data)), LastModified: p.modified})
	}
	return parts, nil
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(objectstore.MultipartUpload{}, s.fail(objectstore.OpListMultiparts, objectstore.Path(prefix), err))
			return
		}
		for _, u := range s.listMultiparts(prefix) {
			if !yield(u, nil) {
				return
			}
		}
	}
}

func (s *Store) listMultiparts(prefix string) []objectstore.MultipartUpload {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids := slices.SortedFunc(maps.Keys(s.uploads), func(a, b string) int {
		x, y := s.uploads[a], s.uploads[b]
		if order := strings.Compare(string(x.path), string(y.path)); order != 0 {
			return order
		}
		return int(x.sequence - y.sequence)
	})
	var list []objectstore.MultipartUpload
	for _, id := range ids {
		if u := s.uploads[id]; strings.HasPrefix(string(u.path), prefix) {
			list = append(list, objectstore.MultipartUpload{Path: u.path, ID: id, Initiated: u.initiated})
		}
	}
	return list
}

// find returns an upload of this path. s.mu is held.
func (s *Store) find(path objectstore.Path, id string) (*upload, error) {
	u := s.uploads[id]
	if u == nil || u.path != path {
		return nil, fmt.Errorf("%w: %q", objectstore.ErrUploadNotFound, id)
	}
	return u, nil
}

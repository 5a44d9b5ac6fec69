package dbstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// maxUploads bounds the uploads in progress that a Store remembers.
const maxUploads = 10_000

// uploads are the multipart uploads in progress.
type uploads struct {
	mu   sync.Mutex
	byID map[string]*upload
}

// upload is guarded by uploads.mu.
type upload struct {
	id        string
	path      objectstore.Path
	initiated time.Time
	options   objectstore.MultipartOptions
	parts     map[int]part
}

// part is a payload that no file names.
type part struct {
	objectstore.Part
	digest stardust.Digest
}

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, s, path, options)
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	const op = objectstore.OpCreateMultipart
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	if err := check(ctx, path); err != nil {
		return "", s.fail(op, path, err)
	}
	if _, err := s.tree(ctx); err != nil {
		return "", s.fail(op, path, err)
	}
	u := &upload{id: rand.Text(), path: path, initiated: s.now().UTC(), options: *options, parts: make(map[int]part)}
	u.options.Attributes, u.options.Tags = options.Attributes.Clone(), maps.Clone(options.Tags)
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	if s.uploads.byID == nil {
		s.uploads.byID = make(map[string]*upload)
	}
	if len(s.uploads.byID) >= maxUploads {
		return "", s.fail(op, path, objectstore.Transient(errors.New("too many multipart uploads in progress: complete or abort some"), 0))
	}
	s.uploads.byID[u.id] = u
	return u.id, nil
}

// find returns the upload of an id.
func (u *uploads) find(path objectstore.Path, id string) (*upload, error) {
	if found := u.byID[id]; found != nil && found.path == path {
		return found, nil
	}
	return nil, objectstore.ErrUploadNotFound
}

// UploadPart implements objectstore.MultipartStore.
func (s *Store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	p, err := s.uploadPart(ctx, path, id, number, body)
	if err != nil {
		return objectstore.Part{}, s.fail(objectstore.OpUploadPart, path, err)
	}
	return objectstore.Part{Number: p.Number, ETag: p.ETag, Size: p.Size}, nil
}

func (s *Store) uploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (p part, err error) {
	if err := errors.Join(check(ctx, path), body.Validate()); err != nil {
		return p, err
	}
	if err := objectstore.CheckPartNumber(number); err != nil {
		return p, err
	}
	s.uploads.mu.Lock()
	_, err = s.uploads.find(path, id)
	s.uploads.mu.Unlock()
	if err != nil {
		return p, err
	}
	published, err := s.lanes.Publish(ctx, s.db.Tree().WithContext(ctx), &exact{r: body.Open(), left: body.Size()}, nil)
	if err != nil {
		return p, err
	}
	p.digest = published.Digest
	p.Part = objectstore.Part{Number: number, ETag: published.Digest.String(), Size: published.Size, LastModified: s.now().UTC()}
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	u, err := s.uploads.find(path, id)
	if err != nil {
		return p, err // it was ended meanwhile
	}
	u.parts[number] = p
	return p, nil
}

// CompleteMultipart implements objectstore.MultipartStore. It reads the parts
// again to find the digest of the whole; only the chunks at the parts' borders
// are new.
func (s *Store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.CompleteOptions{}
	}
	result, err := s.complete(ctx, path, id, parts, options)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	return result, nil
}

func (s *Store) complete(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if err := errors.Join(check(ctx, path), options.Mode.Validate(options.UpdateVersion)); err != nil {
		return nil, err
	}
	s.uploads.mu.Lock()
	u, err := s.uploads.find(path, id)
	var chosen []part
	if err == nil {
		chosen, err = u.choose(parts)
	}
	s.uploads.mu.Unlock()
	if err != nil {
		return nil, err
	}
	w := write{path: path, mode: options.Mode, update: options.UpdateVersion, attributes: u.options.Attributes.WithMetadata(options.Metadata), tags: u.options.Tags}
	var size int64
	for _, p := range chosen {
		size += p.Size
	}
	result, err := s.write(ctx, w, func(tree stardust.Tree, in string, o *stardust.PutOptions) (stardust.Record, error) {
		if len(chosen) == 1 {
			return tree.PutPublished(in, chosen[0].digest, o)
		}
		whole := &concatenation{tree: tree, parts: chosen}
		defer whole.close()
		return tree.Put(in, &exact{r: whole, left: size}, o)
	}, size)
	if err != nil {
		return nil, err
	}
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	delete(s.uploads.byID, id)
	return result, nil
}

// choose returns the parts that a completion names. The lock is held.
func (u *upload) choose(parts []objectstore.Part) ([]part, error) {
	err := objectstore.CheckParts(parts, 0, func(number int) (objectstore.Part, bool, error) {
		p, ok := u.parts[number]
		return p.Part, ok, nil
	})
	if err != nil {
		return nil, err
	}
	chosen := make([]part, len(parts))
	for i, want := range parts {
		chosen[i] = u.parts[want.Number]
	}
	return chosen, nil
}

// concatenation reads payloads one after the other.
type concatenation struct {
	tree   stardust.Tree
	parts  []part
	reader *stardust.Reader
}

func (c *concatenation) Read(p []byte) (int, error) {
	for {
		if c.reader == nil {
			if len(c.parts) == 0 {
				return 0, io.EOF
			}
			var err error
			if c.reader, err = c.tree.Open(c.parts[0].digest); err != nil {
				return 0, err
			}
			c.parts = c.parts[1:]
		}
		n, err := c.reader.Read(p)
		if err == io.EOF {
			c.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (c *concatenation) close() {
	if c.reader != nil {
		_ = c.reader.Close() // of a reader
		c.reader = nil
	}
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *Store) AbortMultipart(_ context.Context, path objectstore.Path, id string) error {
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	_, err := s.uploads.find(path, id)
	if err == nil {
		delete(s.uploads.byID, id)
	}
	return s.fail(objectstore.OpAbortMultipart, path, err)
}

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(_ context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		s.uploads.mu.Lock()
		u, err := s.uploads.find(path, id)
		var parts []part
		if err == nil {
			parts = slices.SortedFunc(maps.Values(u.parts), func(a, b part) int { return a.Number - b.Number })
		}
		s.uploads.mu.Unlock()
		if err != nil {
			yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err))
			return
		}
		for _, p := range parts {
			if !yield(p.Part, nil) {
				return
			}
		}
	}
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *Store) ListMultiparts(_ context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		s.uploads.mu.Lock()
		var all []objectstore.MultipartUpload
		for _, u := range s.uploads.byID {
			if strings.HasPrefix(string(u.path), prefix) {
				all = append(all, objectstore.MultipartUpload{Path: u.path, ID: u.id, Initiated: u.initiated})
			}
		}
		s.uploads.mu.Unlock()
		slices.SortFunc(all, objectstore.MultipartUpload.Compare)
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

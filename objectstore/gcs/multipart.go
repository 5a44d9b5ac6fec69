package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// maxSources is how many objects the service joins in one call.
const maxSources = 32

// cleanupTimeout bounds the removal of an upload's parts.
const cleanupTimeout = time.Minute

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, s, path, options)
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	id := newID()
	err := errors.Join(check(ctx, path), validate(options.Attributes))
	if err == nil {
		err = s.begin(ctx, id, &description{Path: path, Initiated: s.now().UTC(), Attributes: options.Attributes.Clone()})
	}
	if err != nil {
		return "", s.fail(objectstore.OpCreateMultipart, path, err)
	}
	return id, nil
}

// UploadPart implements objectstore.MultipartStore.
func (s *Store) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	part, err := s.uploadPart(ctx, path, id, number, body)
	if err != nil {
		return objectstore.Part{}, s.fail(objectstore.OpUploadPart, path, err)
	}
	return part, nil
}

func (s *Store) uploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	if err := objectstore.CheckPartNumber(number); err != nil {
		return objectstore.Part{}, err
	}
	if err := body.Validate(); err != nil {
		return objectstore.Part{}, err
	}
	if _, err := s.ongoing(ctx, path, id); err != nil {
		return objectstore.Part{}, err
	}
	stored, err := s.put(ctx, objectstore.Path(partName(id, number)), body, &objectstore.PutOptions{})
	if err != nil {
		return objectstore.Part{}, err
	}
	return objectstore.Part{Number: number, ETag: stored.Generation, Size: stored.Size}, nil
}

// CompleteMultipart implements objectstore.MultipartStore. It joins the parts
// in the service, 32 at a time; more are joined in several steps.
func (s *Store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.CompleteOptions{}
	}
	joined, err := s.complete(ctx, path, id, parts, options)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	// The object is complete, whatever becomes of its parts: leftover ones are in
	// nobody's way, and a lifecycle rule on the prefix removes them.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	_ = s.removeUpload(ctx, id)
	return &objectstore.PutResult{ETag: joined.Generation, Version: joined.Generation}, nil
}

func (s *Store) complete(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*object, error) {
	query, err := condition(options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, err
	}
	d, err := s.ongoing(ctx, path, id)
	if err != nil {
		return nil, err
	}
	sources, err := s.sources(ctx, id, parts)
	if err != nil {
		return nil, err
	}
	for level := 0; len(sources) > maxSources; level++ {
		if sources, err = s.joinGroups(ctx, id, level, sources); err != nil {
			return nil, err
		}
	}
	joined, err := s.join(ctx, string(path), query, sources, describe(d.Attributes))
	return joined, writeError(err, options.Mode)
}

// source is an object to be joined, of the generation that was uploaded.
type source struct {
	Name       string `json:"name"`
	Generation string `json:"generation"`
}

// sources returns the objects of parts, each the one that its ETag names.
func (s *Store) sources(ctx context.Context, id string, parts []objectstore.Part) ([]source, error) {
	uploaded := map[int]string{}
	for found, err := range s.objects(ctx, folder(id), "") {
		if err != nil {
			return nil, err
		}
		uploaded[partNumber(id, found.Name)] = found.Generation
	}
	err := objectstore.CheckParts(parts, 0, func(number int) (objectstore.Part, bool, error) {
		generation, ok := uploaded[number]
		return objectstore.Part{Number: number, ETag: generation}, ok && number > 0, nil
	})
	if err != nil {
		return nil, err
	}
	sources := make([]source, 0, len(parts))
	for _, part := range parts {
		sources = append(sources, source{partName(id, part.Number), part.ETag})
	}
	return sources, nil
}

// joinGroups joins groups of sources, each as large as the service allows.
func (s *Store) joinGroups(ctx context.Context, id string, level int, sources []source) ([]source, error) {
	var joined []source
	for start := 0; start < len(sources); start += maxSources {
		name := fmt.Sprintf("%sjoined-%d-%0*d", folder(id), level, partDigit, len(joined))
		one, err := s.join(ctx, name, url.Values{}, sources[start:min(start+maxSources, len(sources))], &object{})
		if err != nil {
			return nil, err
		}
		joined = append(joined, source{name, one.Generation})
	}
	return joined, nil
}

// join makes one object of several, or fails with ErrInvalidPart when one of
// them has been replaced meanwhile.
func (s *Store) join(ctx context.Context, name string, query url.Values, sources []source, destination *object) (*object, error) {
	request := struct {
		SourceObjects []source `json:"sourceObjects"`
		Destination   *object  `json:"destination"`
	}{sources, destination}
	var joined object
	err := s.call(ctx, http.MethodPost, s.objectURL(objectstore.Path(name))+"/compose", query, request, &joined)
	if errors.Is(classify(err), objectstore.ErrNotFound) {
		return nil, fmt.Errorf("%w: one of %d was replaced or removed: %w", objectstore.ErrInvalidPart, len(sources), err)
	}
	if err != nil {
		return nil, err
	}
	if !isGeneration(joined.Generation) {
		return nil, errors.New("the answer does not name the object's generation")
	}
	return &joined, nil
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *Store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	_, err := s.ongoing(ctx, path, id)
	if err == nil {
		err = s.removeUpload(ctx, id)
	}
	if err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	return nil
}

// removeUpload removes the objects of an upload, its description first: without
// it there is no such upload.
func (s *Store) removeUpload(ctx context.Context, id string) error {
	if err := s.removeAny(ctx, folder(id)+begun); err != nil {
		return err
	}
	var errs []error
	for found, err := range s.objects(ctx, folder(id), "") {
		if err == nil {
			err = s.removeAny(ctx, found.Name)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// removeAny removes an object that may be gone already.
func (s *Store) removeAny(ctx context.Context, name string) error {
	if err := classify(s.remove(ctx, name)); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
		return err
	}
	return nil
}

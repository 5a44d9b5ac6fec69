package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strconv"

	"github.com/stardustdb/stardust/objectstore"
)

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, s, path, options)
}

// CreateMultipart implements objectstore.MultipartStore. The upload outlives the
// process.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	if err := check(ctx, path); err != nil {
		return "", s.fail(objectstore.OpCreateMultipart, path, err)
	}
	id, err := s.newUpload(upload{
		Path: path, Initiated: s.options.Now(),
		Attributes: options.Attributes.Clone(), Tags: maps.Clone(options.Tags),
	})
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
	if err := errors.Join(check(ctx, path), body.Validate()); err != nil {
		return objectstore.Part{}, err
	}
	if err := objectstore.CheckPartNumber(number); err != nil {
		return objectstore.Part{}, err
	}
	if _, err := s.readUpload(path, id); err != nil {
		return objectstore.Part{}, err
	}
	t, err := s.writeTemp(false, s.writeBody(ctx, body))
	if err != nil {
		return objectstore.Part{}, err
	}
	defer s.removeTemp(t)
	err = s.root.Rename(t.name, partName(id, number))
	if errors.Is(err, fs.ErrNotExist) {
		return objectstore.Part{}, objectstore.ErrUploadNotFound // completed or aborted meanwhile
	}
	if err == nil {
		err = s.syncDirs([]string{uploadDir(id)})
	}
	if err != nil {
		return objectstore.Part{}, err
	}
	return objectstore.Part{Number: number, ETag: t.etag, Size: t.size}, nil
}

// CompleteMultipart implements objectstore.MultipartStore.
func (s *Store) CompleteMultipart(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.CompleteOptions{}
	}
	err := check(ctx, path)
	if err == nil {
		err = options.Mode.Validate(options.UpdateVersion)
	}
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	result, err := s.complete(ctx, path, id, parts, options)
	if err != nil {
		return nil, s.fail(objectstore.OpCompleteMultipart, path, err)
	}
	return result, nil
}

func (s *Store) complete(ctx context.Context, path objectstore.Path, id string, parts []objectstore.Part, options *objectstore.CompleteOptions) (*objectstore.PutResult, error) {
	u, err := s.readUpload(path, id)
	if err != nil {
		return nil, err
	}
	if err := s.checkParts(id, parts); err != nil {
		return nil, err
	}
	if err := s.checkCondition(path, options.Mode, options.UpdateVersion); err != nil {
		return nil, err
	}
	d := details{Attributes: u.Attributes.WithMetadata(options.Metadata), Tags: u.Tags}
	t, err := s.writeTemp(!d.empty(), func(file *os.File) error { return s.joinParts(ctx, file, id, parts) })
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = objectstore.ErrUploadNotFound // completed or aborted meanwhile
		}
		return nil, err
	}
	return s.commit(t, path, condition{options.Mode, options.UpdateVersion, id}, d)
}

// checkParts finds out whether the parts are those that were uploaded.
func (s *Store) checkParts(id string, parts []objectstore.Part) error {
	return objectstore.CheckParts(parts, s.options.MinPartSize, func(number int) (objectstore.Part, bool, error) {
		info, err := s.root.Stat(partName(id, number))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return objectstore.Part{}, false, nil
		case err != nil:
			return objectstore.Part{}, false, err
		}
		return objectstore.Part{Number: number, ETag: etag(info), Size: info.Size()}, true, nil
	})
}

// joinParts appends the parts to file; the kernel copies the bytes.
func (s *Store) joinParts(ctx context.Context, file *os.File, id string, parts []objectstore.Part) error {
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.appendPart(file, id, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) appendPart(file *os.File, id string, part objectstore.Part) error {
	source, err := s.root.Open(partName(id, part.Number))
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if etag(info) != part.ETag {
		return fmt.Errorf("%w: number %d was replaced meanwhile", objectstore.ErrInvalidPart, part.Number)
	}
	n, err := io.Copy(file, source)
	if err == nil && n != info.Size() {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// AbortMultipart implements objectstore.MultipartStore. It returns
// ErrUploadNotFound for an unknown id.
func (s *Store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	err := check(ctx, path)
	if err == nil {
		_, err = s.readUpload(path, id)
	}
	if err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	if err := s.abort(id); err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	return nil
}

func (s *Store) abort(id string) error {
	unlock, err := s.locks.lock(objectstore.Path(id))
	if err != nil {
		return err
	}
	removed, err := s.takeUpload(id)
	unlock()
	if err != nil {
		return err
	}
	return s.root.RemoveAll(removed)
}

func partName(id string, number int) string { return uploadDir(id) + "/part-" + strconv.Itoa(number) }

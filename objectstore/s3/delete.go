package s3

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/stardustdb/stardust/objectstore"
)

// deleteBatch is how many objects S3 deletes in one request.
const deleteBatch = 1000

// Delete implements objectstore.Store. It returns nil also when there was no
// object.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	err := check(ctx, path)
	if err == nil {
		_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: s.bucket, Key: key(path)})
	}
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	return nil
}

// DeleteAll implements objectstore.BulkDeleter, a thousand objects a request.
func (s *Store) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	return func(yield func(objectstore.Path, error) bool) {
		batch := make([]objectstore.Path, 0, deleteBatch)
		flush := func() bool {
			errs := s.deleteMany(ctx, batch)
			for _, path := range batch {
				if !yield(path, errs[path]) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for path := range paths {
			// A key that XML cannot carry is deleted on its own, or refused.
			if !inXML(string(path)) {
				err := s.Delete(ctx, path)
				if errors.Is(err, objectstore.ErrNotFound) {
					err = nil
				}
				if !yield(path, err) {
					return
				}
				continue
			}
			if batch = append(batch, path); len(batch) == deleteBatch && !flush() {
				return
			}
		}
		if len(batch) > 0 {
			flush()
		}
	}
}

// deleteMany returns the errors of those paths that failed.
func (s *Store) deleteMany(ctx context.Context, paths []objectstore.Path) map[objectstore.Path]error {
	errs := map[objectstore.Path]error{}
	objects := make([]types.ObjectIdentifier, 0, len(paths))
	for _, path := range paths {
		if err := check(ctx, path); err != nil {
			errs[path] = s.fail(objectstore.OpDelete, path, err)
			continue
		}
		objects = append(objects, types.ObjectIdentifier{Key: key(path)})
	}
	if len(objects) == 0 {
		return errs
	}
	output, err := s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: s.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
	})
	if err != nil {
		for _, object := range objects {
			path := objectstore.Path(*object.Key)
			errs[path] = s.fail(objectstore.OpDelete, path, err)
		}
		return errs
	}
	for _, failed := range output.Errors {
		path := objectstore.Path(aws.ToString(failed.Key))
		err := classify(fmt.Errorf("delete: %w", &smithy.GenericAPIError{
			Code: aws.ToString(failed.Code), Message: aws.ToString(failed.Message),
		}))
		if !errors.Is(err, objectstore.ErrNotFound) {
			errs[path] = s.fail(objectstore.OpDelete, path, err)
		}
	}
	return errs
}

// inXML reports whether XML 1.0 carries s unchanged.
func inXML(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == '\ufffd' || r == '\ufffe' || r == '\uffff' {
			return false
		}
	}
	return true
}

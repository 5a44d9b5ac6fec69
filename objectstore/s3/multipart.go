package s3

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// PutMultipart implements objectstore.Store.
func (s *Store) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	return objectstore.NewUpload(ctx, s, path, options)
}

// withoutChecksums leaves out the checksums that the SDK adds: an upload begun
// with them must be completed with those of all parts, which nobody keeps.
func withoutChecksums(o *s3.Options) {
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
}

// CreateMultipart implements objectstore.MultipartStore.
func (s *Store) CreateMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (string, error) {
	if options == nil {
		options = &objectstore.MultipartOptions{}
	}
	h, err := headersOf(options.Attributes)
	if err := errors.Join(check(ctx, path), err); err != nil {
		return "", s.fail(objectstore.OpCreateMultipart, path, err)
	}
	output, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: s.bucket, Key: key(path), Tagging: tagging(options.Tags),
		ContentType: h.contentType, ContentEncoding: h.contentEncoding, ContentDisposition: h.contentDisposition,
		ContentLanguage: h.contentLanguage, CacheControl: h.cacheControl, Metadata: h.metadata,
	}, withoutChecksums)
	if err != nil {
		return "", s.fail(objectstore.OpCreateMultipart, path, err)
	}
	return aws.ToString(output.UploadId), nil
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
	if err := errors.Join(check(ctx, path), checkID(id), body.Validate()); err != nil {
		return objectstore.Part{}, err
	}
	if err := objectstore.CheckPartNumber(number); err != nil {
		return objectstore.Part{}, err
	}
	reader, source := wire.NewSource(ctx, body)
	perCall := s.sending(body)
	if perCall == nil {
		perCall = []func(*s3.Options){withoutChecksums}
		if !body.Replayable() {
			perCall = append(perCall, unsigned)
		}
	}
	output, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: s.bucket, Key: key(path), UploadId: &id, PartNumber: aws.Int32(int32(number)),
		Body: reader, ContentLength: aws.Int64(body.Size()),
	}, perCall...)
	if err != nil {
		return objectstore.Part{}, source.Cause(err)
	}
	return objectstore.Part{Number: number, ETag: unquote(output.ETag), Size: body.Size()}, nil
}

// checkID refuses what cannot be an upload's id and would turn the request into
// another.
func checkID(id string) error {
	if id == "" {
		return fmt.Errorf("%w: %q", objectstore.ErrUploadNotFound, id)
	}
	return nil
}

// CompleteMultipart implements objectstore.MultipartStore.
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
	if err := errors.Join(check(ctx, path), checkID(id)); err != nil {
		return nil, err
	}
	match, noneMatch, err := conditions(options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, err
	}
	if err := objectstore.CheckParts(parts, 0, nil); err != nil {
		return nil, err
	}
	completed := make([]types.CompletedPart, 0, len(parts))
	for _, part := range parts {
		completed = append(completed, types.CompletedPart{PartNumber: aws.Int32(int32(part.Number)), ETag: aws.String(quote(part.ETag))})
	}
	output, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: s.bucket, Key: key(path), UploadId: &id, IfMatch: match, IfNoneMatch: noneMatch,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: completed},
	})
	if err != nil {
		return nil, writeError(err, options.Mode)
	}
	return &objectstore.PutResult{ETag: unquote(output.ETag), Version: aws.ToString(output.VersionId)}, nil
}

// AbortMultipart implements objectstore.MultipartStore.
func (s *Store) AbortMultipart(ctx context.Context, path objectstore.Path, id string) error {
	err := errors.Join(check(ctx, path), checkID(id))
	if err == nil {
		_, err = s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: s.bucket, Key: key(path), UploadId: &id})
	}
	if err != nil {
		return s.fail(objectstore.OpAbortMultipart, path, err)
	}
	return nil
}

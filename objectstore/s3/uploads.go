package s3

import (
	"context"
	"errors"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/objectstore"
)

// ListParts implements objectstore.MultipartStore.
func (s *Store) ListParts(ctx context.Context, path objectstore.Path, id string) iter.Seq2[objectstore.Part, error] {
	return func(yield func(objectstore.Part, error) bool) {
		fail := func(err error) { yield(objectstore.Part{}, s.fail(objectstore.OpListParts, path, err)) }
		if err := errors.Join(check(ctx, path), checkID(id)); err != nil {
			fail(err)
			return
		}
		input := &s3.ListPartsInput{Bucket: s.bucket, Key: key(path), UploadId: &id}
		for {
			page, err := s.client.ListParts(ctx, input)
			if err != nil {
				fail(err)
				return
			}
			for _, part := range page.Parts {
				if !yield(objectstore.Part{
					Number: int(aws.ToInt32(part.PartNumber)), ETag: unquote(part.ETag),
					Size: aws.ToInt64(part.Size), LastModified: aws.ToTime(part.LastModified),
				}, nil) {
					return
				}
			}
			if !aws.ToBool(page.IsTruncated) || aws.ToString(page.NextPartNumberMarker) == "" {
				return
			}
			input.PartNumberMarker = page.NextPartNumberMarker
		}
	}
}

// ListMultiparts implements objectstore.MultipartStore.
func (s *Store) ListMultiparts(ctx context.Context, prefix string) iter.Seq2[objectstore.MultipartUpload, error] {
	return func(yield func(objectstore.MultipartUpload, error) bool) {
		fail := func(err error) {
			yield(objectstore.MultipartUpload{}, s.fail(objectstore.OpListMultiparts, objectstore.Path(prefix), err))
		}
		if objectstore.OnlyDots(prefix) {
			return // paths that are refused
		}
		input := &s3.ListMultipartUploadsInput{Bucket: s.bucket, Prefix: optional(prefix), EncodingType: types.EncodingTypeUrl}
		for {
			page, err := s.client.ListMultipartUploads(ctx, input)
			if err != nil {
				fail(err)
				return
			}
			for _, upload := range page.Uploads {
				path, err := decode(upload.Key, page.EncodingType)
				if err != nil {
					fail(err)
					return
				}
				if !yield(objectstore.MultipartUpload{
					Path: objectstore.Path(path), ID: aws.ToString(upload.UploadId), Initiated: aws.ToTime(upload.Initiated),
				}, nil) {
					return
				}
			}
			if !aws.ToBool(page.IsTruncated) {
				return
			}
			marker, err := decode(page.NextKeyMarker, page.EncodingType)
			if err != nil {
				fail(err)
				return
			}
			input.KeyMarker, input.UploadIdMarker = aws.String(marker), page.NextUploadIdMarker
		}
	}
}

package s3

import (
	"context"
	"iter"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/objectstore"
)

// List implements objectstore.Store, a page of up to 1000 objects a request.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for page, err := range s.pages(ctx, options, nil) {
			if err != nil {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
				return
			}
			for i := range page.Contents {
				meta, err := objectMeta(&page.Contents[i], page.EncodingType)
				if err != nil {
					yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
					return
				}
				if !yield(meta, nil) {
					return
				}
			}
		}
	}
}

// ListWithDelimiter implements objectstore.Store.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result := &objectstore.ListResult{}
	for page, err := range s.pages(ctx, options, aws.String("/")) {
		if err != nil {
			return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
		}
		for i := range page.Contents {
			meta, err := objectMeta(&page.Contents[i], page.EncodingType)
			if err != nil {
				return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
			}
			result.Objects = append(result.Objects, meta)
		}
		for _, common := range page.CommonPrefixes {
			prefix, err := decode(common.Prefix, page.EncodingType)
			if err != nil {
				return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
			}
			result.CommonPrefixes = append(result.CommonPrefixes, prefix)
		}
	}
	return result, nil
}

func (s *Store) pages(ctx context.Context, options *objectstore.ListOptions, delimiter *string) iter.Seq2[*s3.ListObjectsV2Output, error] {
	return func(yield func(*s3.ListObjectsV2Output, error) bool) {
		if objectstore.OnlyDots(options.Prefix) {
			return // paths that are refused
		}
		input := &s3.ListObjectsV2Input{
			Bucket: s.bucket, Prefix: optional(options.Prefix), StartAfter: optional(options.Offset), Delimiter: delimiter,
			// XML cannot carry all keys.
			EncodingType: types.EncodingTypeUrl,
		}
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			page, err := s.client.ListObjectsV2(ctx, input)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || !aws.ToBool(page.IsTruncated) || page.NextContinuationToken == nil {
				return
			}
			input.ContinuationToken = page.NextContinuationToken
		}
	}
}

func objectMeta(object *types.Object, encoding types.EncodingType) (objectstore.ObjectMeta, error) {
	path, err := decode(object.Key, encoding)
	return objectstore.ObjectMeta{
		Path: objectstore.Path(path), Size: aws.ToInt64(object.Size),
		LastModified: aws.ToTime(object.LastModified), ETag: unquote(object.ETag),
	}, err
}

// decode undoes the encoding of a key in an answer.
func decode(text *string, encoding types.EncodingType) (string, error) {
	if encoding != types.EncodingTypeUrl {
		return aws.ToString(text), nil
	}
	return url.QueryUnescape(aws.ToString(text))
}

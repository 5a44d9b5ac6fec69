package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/objectstore"
)

// cleanupTimeout bounds the abort of a copy that failed.
const cleanupTimeout = 30 * time.Second

// Copy implements objectstore.Store; no byte passes through this machine. Mode
// Create is checked here first and sent as a condition, which S3 honors: a
// server that ignores it on copies may overwrite an object that came between.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := s.copy(ctx, from, to, options); err != nil {
		return s.fail(objectstore.OpCopy, from, err)
	}
	return nil
}

func (s *Store) copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if err := check(ctx, from, to); err != nil {
		return err
	}
	if options.Mode == objectstore.Update {
		return fmt.Errorf("%w: mode Update", objectstore.ErrUnsupported)
	}
	_, noneMatch, err := conditions(options.Mode, objectstore.UpdateVersion{})
	if err != nil {
		return err
	}
	source, err := s.head(ctx, from, &objectstore.GetOptions{}, &objectstore.GetOptions{})
	if err != nil {
		return err
	}
	if options.Mode == objectstore.Create {
		_, err := s.head(ctx, to, &objectstore.GetOptions{}, &objectstore.GetOptions{})
		if err == nil {
			return fmt.Errorf("%q: %w", to, objectstore.ErrAlreadyExists)
		}
		if err = classify(err); !errors.Is(err, objectstore.ErrNotFound) {
			return err
		}
	}
	if from == to && options.Attributes == nil {
		return nil // S3 refuses a copy that changes nothing
	}
	if source.Meta.Size > s.maxCopy {
		return s.copyParts(ctx, source, to, options)
	}
	input := &s3.CopyObjectInput{
		Bucket: s.bucket, Key: key(to), CopySource: s.copySource(from), IfNoneMatch: noneMatch,
		CopySourceIfMatch: aws.String(quote(source.Meta.ETag)),
	}
	if options.Attributes != nil {
		h, err := headersOf(*options.Attributes)
		if err != nil {
			return err
		}
		input.MetadataDirective = types.MetadataDirectiveReplace
		input.ContentType, input.ContentEncoding, input.ContentDisposition = h.contentType, h.contentEncoding, h.contentDisposition
		input.ContentLanguage, input.CacheControl, input.Metadata = h.contentLanguage, h.cacheControl, h.metadata
	}
	_, err = s.client.CopyObject(ctx, input)
	return copyError(err, options.Mode)
}

// copyError tells a refusal of the target from one of the source, which was
// named with the ETag that it had a moment ago.
func copyError(err error, mode objectstore.PutMode) error {
	if err = classify(err); errors.Is(err, objectstore.ErrPrecondition) {
		if mode == objectstore.Create {
			return fmt.Errorf("%w: %w", objectstore.ErrAlreadyExists, err)
		}
		return objectstore.Transient(fmt.Errorf("the source was replaced during the copy: %w", err), 0)
	}
	return err
}

// copyParts copies by ranges, as S3 needs it for large objects.
func (s *Store) copyParts(ctx context.Context, source *objectstore.GetResult, to objectstore.Path, options *objectstore.CopyOptions) (err error) {
	from, attributes := source.Meta.Path, source.Attributes
	if options.Attributes != nil {
		attributes = *options.Attributes
	}
	tags, err := s.Tags(ctx, from)
	if err != nil && !errors.Is(err, objectstore.ErrUnsupported) {
		return err
	}
	id, err := s.CreateMultipart(ctx, to, &objectstore.MultipartOptions{Attributes: attributes, Tags: tags})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
			defer cancel()
			_ = s.AbortMultipart(ctx, to, id)
		}
	}()
	// The greatest number of parts must reach the end.
	size := max(s.partSize, source.Meta.Size/objectstore.MaxParts+1)
	var parts []objectstore.Part
	for start := int64(0); start < source.Meta.Size; start += size {
		end := min(start+size, source.Meta.Size)
		number := len(parts) + 1
		output, err := s.client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
			Bucket: s.bucket, Key: key(to), UploadId: &id, PartNumber: aws.Int32(int32(number)),
			CopySource: s.copySource(from), CopySourceIfMatch: aws.String(quote(source.Meta.ETag)),
			CopySourceRange: aws.String(fmt.Sprintf("bytes=%d-%d", start, end-1)),
		})
		if err != nil {
			return copyError(err, objectstore.Overwrite)
		}
		if output.CopyPartResult == nil {
			return errors.New("the answer to a part's copy has no result")
		}
		parts = append(parts, objectstore.Part{Number: number, ETag: unquote(output.CopyPartResult.ETag), Size: end - start})
	}
	_, err = s.CompleteMultipart(ctx, to, id, parts, &objectstore.CompleteOptions{Mode: options.Mode})
	return err
}

// copySource returns the header that names the object to copy.
func (s *Store) copySource(path objectstore.Path) *string {
	segments := strings.Split(*s.bucket+"/"+string(path), "/")
	for i, segment := range segments {
		// A plus sign would be read as a space by some servers.
		segments[i] = strings.ReplaceAll(url.PathEscape(segment), "+", "%2B")
	}
	return aws.String(strings.Join(segments, "/"))
}

// Rename implements objectstore.Store as a Copy and a Delete.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := s.copy(ctx, from, to, options); err != nil {
		return s.fail(objectstore.OpRename, from, err)
	}
	if from == to {
		return nil
	}
	if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: s.bucket, Key: key(from)}); err != nil {
		return s.fail(objectstore.OpRename, from, fmt.Errorf("copied to %q, but not removed: %w", to, classify(err)))
	}
	return nil
}

package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// Get implements objectstore.Store.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	err := check(ctx, path)
	if err == nil && options.Range != nil {
		// A range that is malformed whatever the object's size never reaches S3,
		// which would ignore it and send the whole object.
		_, _, err = options.Range.Resolve(math.MaxInt64)
	}
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	result, err := s.get(ctx, path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

// maxRaces bounds how often a read whose conditions need two requests starts
// over because the object was replaced between them.
const maxRaces = 10

func (s *Store) get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if !listsETags(options) {
		return s.getOrHead(ctx, path, options, options)
	}
	// S3 compares with one ETag only. So look first, decide here, and read exactly
	// that version.
	for race := 0; ; race++ {
		head, err := s.head(ctx, path, &objectstore.GetOptions{Version: options.Version}, options)
		if err != nil || options.Head {
			return head, err
		}
		pinned := *options
		pinned.IfMatch, pinned.IfNoneMatch = head.Meta.ETag, ""
		pinned.IfModifiedSince, pinned.IfUnmodifiedSince = time.Time{}, time.Time{}
		result, err := s.getOrHead(ctx, path, &pinned, options)
		if err == nil || race == maxRaces || !errors.Is(classify(err), objectstore.ErrPrecondition) {
			return result, err
		}
	}
}

// listsETags reports whether a condition is one that S3 does not have.
func listsETags(o *objectstore.GetOptions) bool {
	return strings.ContainsAny(o.IfMatch, "*,") || strings.ContainsAny(o.IfNoneMatch, "*,")
}

// getOrHead sends the conditions of sent, and checks those of wanted against
// the answer, in case the server ignored some.
func (s *Store) getOrHead(ctx context.Context, path objectstore.Path, sent, wanted *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if sent.Head {
		return s.head(ctx, path, sent, wanted)
	}
	input := &s3.GetObjectInput{
		Bucket: s.bucket, Key: key(path), VersionId: optional(sent.Version),
		IfMatch: etagOption(sent.IfMatch), IfNoneMatch: etagOption(sent.IfNoneMatch),
		IfModifiedSince: timeOption(sent.IfModifiedSince), IfUnmodifiedSince: lenient(sent.IfUnmodifiedSince),
	}
	var perCall []func(*s3.Options)
	if sent.Range != nil {
		input.Range = aws.String(sent.Range.String())
		// A checksum is one of the whole object.
		perCall = append(perCall, func(o *s3.Options) { o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired })
	} else {
		input.ChecksumMode = types.ChecksumModeEnabled
		perCall = append(perCall, withFastCRC64)
	}
	output, err := s.client.GetObject(ctx, input, perCall...)
	if err != nil {
		return nil, err
	}
	result, err := s.result(path, output, wanted)
	if err != nil {
		_ = output.Body.Close()
		return nil, err
	}
	return result, nil
}

// result makes a result of an answer, whatever the server made of the range.
func (s *Store) result(path objectstore.Path, output *s3.GetObjectOutput, wanted *objectstore.GetOptions) (*objectstore.GetResult, error) {
	length := aws.ToInt64(output.ContentLength)
	if output.ContentLength == nil || length < 0 {
		return nil, errors.New("the answer does not say how long the object is")
	}
	start, end, size := int64(0), length, length
	if output.ContentRange != nil {
		if _, err := fmt.Sscanf(*output.ContentRange, "bytes %d-%d/%d", &start, &end, &size); err != nil {
			return nil, fmt.Errorf("the answer has the range %q: %w", *output.ContentRange, err)
		}
		end++
	}
	meta := objectstore.ObjectMeta{
		Path: path, Size: size, LastModified: aws.ToTime(output.LastModified),
		ETag: unquote(output.ETag), Version: aws.ToString(output.VersionId),
	}
	if err := wanted.Check(meta); err != nil {
		return nil, err
	}
	from, to, err := wanted.Range.Resolve(size)
	if err != nil {
		return nil, err
	}
	if from < start || to > end || end-start != length {
		return nil, fmt.Errorf("asked for bytes [%d, %d), the answer has %d, [%d, %d)", from, to, length, start, end)
	}
	body := wire.NewBody(output.Body, to-from)
	// A server without ranges sends everything: skip to what was asked for.
	if _, err := io.CopyN(io.Discard, output.Body, from-start); err != nil {
		return nil, wire.Damaged(err)
	}
	return &objectstore.GetResult{
		Meta: meta, Start: from, End: to, Body: body,
		Attributes: attributesOf(headers{
			output.ContentType, output.ContentEncoding, output.ContentDisposition,
			output.ContentLanguage, output.CacheControl, output.Metadata,
		}),
	}, nil
}

func (s *Store) head(ctx context.Context, path objectstore.Path, sent, wanted *objectstore.GetOptions) (*objectstore.GetResult, error) {
	output, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: s.bucket, Key: key(path), VersionId: optional(sent.Version),
		IfMatch: etagOption(sent.IfMatch), IfNoneMatch: etagOption(sent.IfNoneMatch),
		IfModifiedSince: timeOption(sent.IfModifiedSince), IfUnmodifiedSince: lenient(sent.IfUnmodifiedSince),
	})
	if err != nil {
		return nil, err
	}
	meta := objectstore.ObjectMeta{
		Path: path, Size: aws.ToInt64(output.ContentLength), LastModified: aws.ToTime(output.LastModified),
		ETag: unquote(output.ETag), Version: aws.ToString(output.VersionId),
	}
	if err := wanted.Check(meta); err != nil {
		return nil, err
	}
	start, end, err := wanted.Range.Resolve(meta.Size)
	if err != nil {
		return nil, err
	}
	return &objectstore.GetResult{
		Meta: meta, Start: start, End: end,
		Attributes: attributesOf(headers{
			output.ContentType, output.ContentEncoding, output.ContentDisposition,
			output.ContentLanguage, output.CacheControl, output.Metadata,
		}),
	}, nil
}

// Tags implements objectstore.TagReader.
func (s *Store) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	if err := check(ctx, path); err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	output, err := s.client.GetObjectTagging(ctx, &s3.GetObjectTaggingInput{Bucket: s.bucket, Key: key(path)})
	if err != nil {
		return nil, s.fail(objectstore.OpTags, path, err)
	}
	tags := make(map[string]string, len(output.TagSet))
	for _, tag := range output.TagSet {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return tags, nil
}

func etagOption(etag string) *string {
	if etag == "" {
		return nil
	}
	return aws.String(quote(etag))
}

func timeOption(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// lenient returns the second after t. Dates in requests have whole seconds, and
// some servers compare them with times that have more: an object would count as
// modified after the very time that they report for it. The answer is checked
// against t itself.
func lenient(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.Truncate(time.Second).Add(time.Second)
	return &t
}

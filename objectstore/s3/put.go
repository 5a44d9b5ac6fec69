package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// Put implements objectstore.Store in one request. A body made with
// objectstore.Stream is sent as it is read, without being held: over TLS with a
// trailing checksum, otherwise in signed chunks.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	result, err := s.put(ctx, path, body, options)
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	return result, nil
}

func (s *Store) put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	h, err := headersOf(options.Attributes)
	if err := errors.Join(check(ctx, path), body.Validate(), err); err != nil {
		return nil, err
	}
	match, noneMatch, err := conditions(options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, err
	}
	reader, source := wire.NewSource(ctx, body)
	output, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: s.bucket, Key: key(path), Body: reader, ContentLength: aws.Int64(body.Size()),
		ContentType: h.contentType, ContentEncoding: h.contentEncoding, ContentDisposition: h.contentDisposition,
		ContentLanguage: h.contentLanguage, CacheControl: h.cacheControl, Metadata: h.metadata,
		Tagging: tagging(options.Tags), IfMatch: match, IfNoneMatch: noneMatch,
	}, s.sending(body)...)
	if err != nil {
		return nil, writeError(source.Cause(err), options.Mode)
	}
	return &objectstore.PutResult{ETag: unquote(output.ETag), Version: aws.ToString(output.VersionId)}, nil
}

// conditions returns the headers of a mode.
func conditions(mode objectstore.PutMode, update objectstore.UpdateVersion) (match, noneMatch *string, err error) {
	if err := mode.Validate(update); err != nil {
		return nil, nil, err
	}
	switch mode {
	case objectstore.Create:
		return nil, aws.String("*"), nil
	case objectstore.Update:
		if update.ETag == "" {
			return nil, nil, fmt.Errorf("%w: S3 updates by ETag, not by version", objectstore.ErrUnsupported)
		}
		return aws.String(quote(update.ETag)), nil, nil
	default:
		return nil, nil, nil
	}
}

// sending returns the options of a request with this body. The SDK reads a body
// twice, for its checksums, unless it can send them after it, which needs TLS.
// What can be read once only is signed in chunks otherwise.
func (s *Store) sending(body objectstore.Body) []func(*s3.Options) {
	switch {
	case body.Replayable(), s.hasTLS():
		return nil
	case s.anonymous:
		return []func(*s3.Options){withoutChecksums, unsigned}
	default:
		return []func(*s3.Options){signedChunks(body.Size(), s.client.Options().Credentials)}
	}
}

// unsigned leaves the hash of the body out of the signature.
func unsigned(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware)
}

// hasTLS reports whether requests go over TLS, as all but those to a plain http
// endpoint do.
func (s *Store) hasTLS() bool {
	endpoint := s.client.Options().BaseEndpoint
	return endpoint == nil || !strings.HasPrefix(*endpoint, "http:")
}

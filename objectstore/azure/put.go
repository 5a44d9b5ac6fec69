package azure

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// MaxPut is the greatest size of an object that is written in one request, in
// bytes, the service's limit. Larger ones are uploaded in parts.
const MaxPut = 5000 << 20

// Put implements objectstore.Store in one request. It returns ErrUnsupported
// for a body over [MaxPut].
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
	h, metadata, err := headers(options.Attributes)
	if err := errors.Join(check(ctx, path), body.Validate(), err); err != nil {
		return nil, err
	}
	if body.Size() > MaxPut {
		return nil, fmt.Errorf("%w: %d bytes in one request, of at most %d: upload it in parts", objectstore.ErrUnsupported, body.Size(), int64(MaxPut))
	}
	conditions, err := writing(options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, err
	}
	sent, source := newSent(ctx, body)
	answer, err := s.blob(path).Upload(ctx, sent, &blockblob.UploadOptions{
		HTTPHeaders: h, Metadata: metadata, Tags: options.Tags, AccessConditions: conditions,
	})
	if err != nil {
		return nil, writeError(source.Cause(err), options.Mode)
	}
	return &objectstore.PutResult{ETag: unquote(answer.ETag), Version: value(answer.VersionID)}, nil
}

// sent is a body as the client takes it: the client finds the size by seeking,
// and seeks back to the beginning before it reads.
type sent struct {
	io.Reader
	size    int64
	at      int64 // where a seek has led to
	started bool
}

func newSent(ctx context.Context, body objectstore.Body) (io.ReadSeekCloser, *wire.Source) {
	reader, source := wire.NewSource(ctx, body)
	return &sent{Reader: reader, size: body.Size()}, source
}

func (s *sent) Read(p []byte) (int, error) {
	if s.at != 0 && !s.started {
		return 0, io.EOF
	}
	s.started = true
	return s.Reader.Read(p)
}

// Seek implements io.Seeker as far as one request needs it. A second request with
// the same body is refused: the caller makes it.
func (s *sent) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.size
	}
	if s.started {
		return 0, objectstore.Transient(errors.New("the request's body cannot be sent twice"), 0)
	}
	s.at = offset
	return offset, nil
}

// Close implements io.Closer; the body is the caller's to close.
func (s *sent) Close() error { return nil }

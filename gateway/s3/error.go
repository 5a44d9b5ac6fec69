package s3

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/uploads"
)

// Failure is an error as S3 reports it to clients. Hooks may return one, made
// from an [s3err.Row], to choose what a client sees.
type Failure = s3err.Failure

// asFailure turns an error of a Store, of a body or of this package into what
// the client is told. Its cause stays in the chain for the log.
func asFailure(err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	row := s3err.InternalError
	for _, known := range [...]struct {
		err error
		row s3err.Row
	}{
		{objectstore.ErrNotFound, s3err.NoSuchKey},
		{objectstore.ErrNoBucket, s3err.NoBucketBehind},
		{objectstore.ErrAlreadyExists, s3err.PreconditionFailed},
		{objectstore.ErrPrecondition, s3err.PreconditionFailed},
		{objectstore.ErrNotModified, s3err.NotModified},
		{objectstore.ErrPermissionDenied, s3err.AccessBehindDenied},
		{objectstore.ErrUnauthenticated, s3err.CredentialsBehindRefused},
		{objectstore.ErrUnsupported, s3err.BehindNotImplemented},
		{objectstore.ErrInvalidPath, s3err.KeyUnfit},
		{objectstore.ErrInvalidRange, s3err.InvalidRange},
		{uploads.ErrTooMany, s3err.TooManyUploads},
		{objectstore.ErrUploadNotFound, s3err.NoSuchUpload},
		{objectstore.ErrInvalidPart, s3err.InvalidPart},
		{objectstore.ErrInvalidOption, s3err.ArgumentUnfit},
		{objectstore.ErrNoSpace, s3err.NoSpace},
		{objectstore.ErrClosed, s3err.ShuttingDown},
		{context.DeadlineExceeded, s3err.BehindTooSlow},
		{os.ErrDeadlineExceeded, s3err.RequestTimeout},
		{io.ErrUnexpectedEOF, s3err.IncompleteBody},
	} {
		if errors.Is(err, known.err) {
			row = known.row
			break
		}
	}
	return row.Wrap(err)
}

package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// Failure is an error as S3 tells it to clients: a code that programs read and
// a message for people. Hooks may return one to choose what a client sees.
type Failure struct {
	Code    string // such as "NoSuchKey"
	Message string
	// Fields are further elements of the error document, by name.
	Fields map[string]string
	// Err is the cause, for the log only; it never reaches the client.
	Err error
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %v", f.Code, f.Message, f.Err)
	}
	return f.Code + ": " + f.Message
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Status returns the HTTP status that belongs to the code, 500 for a code that
// this package doesn't know.
func (f *Failure) Status() int { return statusOf(f.Code) }

// fail makes a Failure without a cause.
func fail(code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// argument makes the Failure of an argument that has a wrong value.
func argument(name, value, format string, args ...any) *Failure {
	failure := fail("InvalidArgument", format, args...)
	failure.Fields = map[string]string{"ArgumentName": name, "ArgumentValue": value}
	return failure
}

// statusOf holds S3's table of error codes and statuses.
func statusOf(code string) int {
	switch code {
	case "NotModified":
		return http.StatusNotModified
	case "AccessDenied", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch":
		return http.StatusForbidden
	case "NoSuchBucket", "NoSuchKey", "NoSuchUpload", "NoSuchVersion", "NoSuchBucketPolicy",
		"NoSuchCORSConfiguration", "NoSuchLifecycleConfiguration", "NoSuchWebsiteConfiguration",
		"NoSuchTagSet", "NoSuchPublicAccessBlockConfiguration", "NoSuchConfiguration",
		"NoSuchObjectLockConfiguration", "ObjectLockConfigurationNotFoundError",
		"ReplicationConfigurationNotFoundError", "ServerSideEncryptionConfigurationNotFoundError",
		"OwnershipControlsNotFoundError":
		return http.StatusNotFound
	case "MethodNotAllowed":
		return http.StatusMethodNotAllowed
	case "BucketAlreadyExists", "BucketAlreadyOwnedByYou", "BucketNotEmpty", "OperationAborted",
		"ConditionalRequestConflict":
		return http.StatusConflict
	case "MissingContentLength":
		return http.StatusLengthRequired
	case "PreconditionFailed":
		return http.StatusPreconditionFailed
	case "InvalidRange", "InvalidPartNumber":
		return http.StatusRequestedRangeNotSatisfiable
	case "NotImplemented":
		return http.StatusNotImplemented
	case "SlowDown", "ServiceUnavailable":
		return http.StatusServiceUnavailable
	case "InsufficientStorage":
		return http.StatusInsufficientStorage
	case "AccessControlListNotSupported", "AuthorizationHeaderMalformed",
		"AuthorizationQueryParametersError", "BadDigest", "BadRequest", "EntityTooLarge",
		"EntityTooSmall", "IncompleteBody", "IllegalLocationConstraintException",
		"InvalidArgument", "InvalidBucketName", "InvalidDigest", "InvalidLocationConstraint", "InvalidPart",
		"InvalidPartOrder", "InvalidRedirectLocation", "InvalidRequest", "InvalidStorageClass", "InvalidTag", "InvalidToken",
		"InvalidURI", "KeyTooLongError", "MalformedACLError", "MalformedTrailerError",
		"MalformedXML", "MetadataTooLarge", "RequestTimeout", "XAmzContentSHA256Mismatch",
		"InvalidEncryptionAlgorithmError":
		return http.StatusBadRequest
	default:
		return http.StatusInternalServerError
	}
}

// asFailure turns an error of a Store, of a body or of this package into what
// the client is told. Its cause stays in the chain for the log.
func asFailure(err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure
	}
	code, message := "InternalError", "We encountered an internal error. Please try again."
	for _, known := range [...]struct {
		err           error
		code, message string
	}{
		{objectstore.ErrNotFound, "NoSuchKey", "The specified key does not exist."},
		{objectstore.ErrNoBucket, "NoSuchBucket", "The bucket behind this endpoint does not exist."},
		{objectstore.ErrAlreadyExists, "PreconditionFailed", preconditionMessage},
		{objectstore.ErrPrecondition, "PreconditionFailed", preconditionMessage},
		{objectstore.ErrNotModified, "NotModified", "Not modified."},
		{objectstore.ErrPermissionDenied, "AccessDenied", "The store behind this endpoint denies access."},
		{objectstore.ErrUnauthenticated, "AccessDenied", "The store behind this endpoint refuses our credentials."},
		{objectstore.ErrUnsupported, "NotImplemented", "The store behind this endpoint cannot do this."},
		{objectstore.ErrInvalidPath, "InvalidArgument", "The store behind this endpoint cannot hold an object with this key."},
		{objectstore.ErrInvalidRange, "InvalidRange", "The requested range is not satisfiable."},
		{objectstore.ErrUploadNotFound, "NoSuchUpload", noSuchUploadMessage},
		{objectstore.ErrInvalidPart, "InvalidPart", invalidPartMessage},
		{objectstore.ErrInvalidOption, "InvalidArgument", "The store behind this endpoint refuses an argument."},
		{objectstore.ErrNoSpace, "InsufficientStorage", "There is no space left in the store."},
		{objectstore.ErrClosed, "ServiceUnavailable", "The store is shutting down. Please try again."},
		{context.DeadlineExceeded, "SlowDown", "The store behind this endpoint is too slow. Please reduce your request rate."},
		{os.ErrDeadlineExceeded, "RequestTimeout", "Your socket connection to the server was not read from or written to within the timeout period."},
		{io.ErrUnexpectedEOF, "IncompleteBody", incompleteBodyMessage},
	} {
		if errors.Is(err, known.err) {
			code, message = known.code, known.message
			break
		}
	}
	return &Failure{Code: code, Message: message, Err: err}
}

// Messages that more than one place sends, in S3's own wording where clients
// are known to look at it.
const (
	preconditionMessage   = "At least one of the pre-conditions you specified did not hold."
	noSuchUploadMessage   = "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed."
	invalidPartMessage    = "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag."
	incompleteBodyMessage = "You did not provide the number of bytes specified by the Content-Length HTTP header"
	accessDeniedMessage   = "Access Denied."
	trailerMessage        = "The request contained trailing data that was not well-formed or did not conform to our published schema."
	notImplementedMessage = "A header you provided implies functionality that is not implemented."
)

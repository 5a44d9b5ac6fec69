package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// classify wraps an error of the SDK in the sentinel that it stands for, or
// marks it as transient.
func classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || objectstore.IsTransient(err) {
		return err
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if sentinel := sentinelOf(api.ErrorCode()); sentinel != nil {
			return fmt.Errorf("%w: %w", sentinel, err)
		}
		if isTransientCode(api.ErrorCode()) {
			return objectstore.Transient(err, retryAfter(err))
		}
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return classifyStatus(response.HTTPStatusCode(), err)
	}
	if wire.IsBroken(err) {
		return objectstore.Transient(err, 0)
	}
	return err
}

// sentinelOf returns the sentinel that an error code of S3 stands for, or nil.
func sentinelOf(code string) error {
	switch code {
	case "NoSuchKey", "NotFound", "NoSuchVersion":
		return objectstore.ErrNotFound
	case "NoSuchBucket":
		return objectstore.ErrNoBucket
	case "NoSuchUpload":
		return objectstore.ErrUploadNotFound
	case "InvalidPart", "InvalidPartOrder", "EntityTooSmall":
		return objectstore.ErrInvalidPart
	case "PreconditionFailed":
		return objectstore.ErrPrecondition
	case "NotModified":
		return objectstore.ErrNotModified
	case "InvalidRange":
		return objectstore.ErrInvalidRange
	case "AccessDenied", "AllAccessDisabled", "AccountProblem", "NotSignedUp":
		return objectstore.ErrPermissionDenied
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired", "MissingSecurityHeader":
		return objectstore.ErrUnauthenticated
	case "NotImplemented", "MethodNotAllowed",
		// Of versitygw, whose file system cannot hold such keys.
		"ObjectParentIsFile", "ExistingObjectIsDirectory", "DirectoryObjectContainsData":
		return objectstore.ErrUnsupported
	case "KeyTooLongError", "InvalidURI",
		// Of versitygw, whose file system cannot hold such keys.
		"InvalidObjectName":
		return objectstore.ErrInvalidPath
	case "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull":
		return objectstore.ErrNoSpace
	default:
		return nil
	}
}

func isTransientCode(code string) bool {
	switch code {
	case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "RequestTimeTooSkewed", "OperationAborted",
		"ConditionalRequestConflict", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequests", "Busy":
		return true
	default:
		return false
	}
}

// classifyStatus goes by the status when there is no code, as in answers to
// HEAD, which have no body.
func classifyStatus(status int, err error) error {
	var sentinel error
	switch status {
	case http.StatusNotFound:
		sentinel = objectstore.ErrNotFound
		var api smithy.APIError
		if errors.As(err, &api) && api.ErrorCode() != "" && api.ErrorCode() != "UnknownError" {
			return err // some other thing was not found
		}
	case http.StatusPreconditionFailed:
		sentinel = objectstore.ErrPrecondition
	case http.StatusNotModified:
		sentinel = objectstore.ErrNotModified
	case http.StatusRequestedRangeNotSatisfiable:
		sentinel = objectstore.ErrInvalidRange
	case http.StatusBadRequest:
		// A repetition would be refused too. Damage on the way has codes of its own.
		sentinel = objectstore.ErrInvalidOption
	case http.StatusUnauthorized:
		sentinel = objectstore.ErrUnauthenticated
	case http.StatusForbidden:
		sentinel = objectstore.ErrPermissionDenied
	case http.StatusNotImplemented, http.StatusMethodNotAllowed:
		sentinel = objectstore.ErrUnsupported
	case http.StatusInsufficientStorage:
		sentinel = objectstore.ErrNoSpace
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return objectstore.Transient(err, retryAfter(err))
	default:
		// A successful answer that makes no sense was damaged on its way.
		var damaged *smithy.DeserializationError
		if status >= 500 || wire.IsBroken(err) || status < 300 && errors.As(err, &damaged) {
			return objectstore.Transient(err, retryAfter(err))
		}
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// retryAfter returns how long the answer asked to wait, in either of the forms
// that HTTP has.
func retryAfter(err error) time.Duration {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) || response.Response == nil {
		return 0
	}
	header := response.Response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(response.Response.Header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}

// writeError turns the refusal of a conditional write into the error that its
// mode has.
func writeError(err error, mode objectstore.PutMode) error {
	err = classify(err)
	switch {
	case mode == objectstore.Create && errors.Is(err, objectstore.ErrPrecondition):
		return fmt.Errorf("%w: %w", objectstore.ErrAlreadyExists, err)
	case mode == objectstore.Update && errors.Is(err, objectstore.ErrNotFound):
		return fmt.Errorf("%w: no object to update: %w", objectstore.ErrPrecondition, err)
	default:
		return err
	}
}

package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// answer says in a line what the client's own error says in many.
type answer struct {
	status int
	code   string
	err    error
}

func (a *answer) Error() string {
	text := strconv.Itoa(a.status) + " " + http.StatusText(a.status)
	if a.code != "" {
		text += ": " + a.code
	}
	return text
}

func (a *answer) Unwrap() error { return a.err }

// classify wraps an error of the client in the sentinel that it stands for, or
// marks it as transient.
func classify(err error) error {
	var response *azcore.ResponseError
	switch {
	case err == nil, errors.Is(err, context.Canceled), objectstore.IsTransient(err):
		return err
	case errors.As(err, &response):
		if _, ok := errors.AsType[*answer](err); ok {
			return err
		}
		return classifyResponse(response, &answer{response.StatusCode, response.ErrorCode, err})
	}
	if wire.IsBroken(err) {
		return objectstore.Transient(err, 0)
	}
	return err
}

func classifyResponse(response *azcore.ResponseError, err error) error {
	switch bloberror.Code(response.ErrorCode) {
	case bloberror.BlobNotFound:
		return fmt.Errorf("%w: %w", objectstore.ErrNotFound, err)
	case bloberror.ContainerNotFound:
		return fmt.Errorf("%w: %w", objectstore.ErrNoBucket, err)
	case bloberror.BlobAlreadyExists, bloberror.TargetConditionNotMet, bloberror.ConditionNotMet:
		if response.StatusCode == http.StatusNotModified {
			return fmt.Errorf("%w: %w", objectstore.ErrNotModified, err)
		}
		return fmt.Errorf("%w: %w", objectstore.ErrPrecondition, err)
	case bloberror.InvalidBlockList, bloberror.InvalidBlockID, bloberror.InvalidBlobOrBlock:
		return fmt.Errorf("%w: %w", objectstore.ErrInvalidPart, err)
	case bloberror.AuthenticationFailed, bloberror.InvalidAuthenticationInfo:
		return fmt.Errorf("%w: %w", objectstore.ErrUnauthenticated, err)
	case bloberror.ContainerBeingDeleted, bloberror.ServerBusy, bloberror.OperationTimedOut, bloberror.InternalError:
		return objectstore.Transient(err, retryAfter(response))
	}
	var sentinel error
	switch response.StatusCode {
	case http.StatusNotFound:
		sentinel = objectstore.ErrNotFound
	case http.StatusPreconditionFailed:
		sentinel = objectstore.ErrPrecondition
	case http.StatusNotModified:
		sentinel = objectstore.ErrNotModified
	case http.StatusRequestedRangeNotSatisfiable:
		sentinel = objectstore.ErrInvalidRange
	case http.StatusUnauthorized:
		sentinel = objectstore.ErrUnauthenticated
	case http.StatusForbidden:
		sentinel = objectstore.ErrPermissionDenied
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return objectstore.Transient(err, retryAfter(response))
	default:
		if response.StatusCode >= 500 {
			return objectstore.Transient(err, retryAfter(response))
		}
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

func retryAfter(response *azcore.ResponseError) time.Duration {
	if response.RawResponse == nil {
		return 0
	}
	seconds, err := strconv.ParseUint(response.RawResponse.Header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
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
	}
	return err
}

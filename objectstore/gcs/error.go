package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// maxErrorBody bounds what is read of a refusal.
const maxErrorBody = 64 << 10

// answerError is an answer that refuses a request.
type answerError struct {
	status     int
	reason     string // such as "conditionNotMet", may be empty
	message    string
	retryAfter time.Duration
}

// Error implements error.
func (e *answerError) Error() string {
	text := strconv.Itoa(e.status) + " " + http.StatusText(e.status)
	if e.message != "" && !strings.EqualFold(e.message, http.StatusText(e.status)) {
		text += ": " + e.message
	}
	return text
}

// refusal reads the error in an answer, and closes it.
func refusal(answer *http.Response) error {
	defer answer.Body.Close()
	e := &answerError{status: answer.StatusCode, retryAfter: retryAfter(answer.Header)}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
	if err != nil {
		return e // the status says most of it
	}
	var document struct {
		Error struct {
			Message string
			Errors  []struct{ Reason string }
		}
	}
	if json.Unmarshal(text, &document) == nil && document.Error.Message != "" {
		e.message = document.Error.Message
		if len(document.Error.Errors) > 0 {
			e.reason = document.Error.Errors[0].Reason
		}
		return e
	}
	// Answers about media are plain text.
	e.message = strings.TrimSpace(string(text[:min(len(text), 200)]))
	return e
}

func retryAfter(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// classify wraps an error in the sentinel that it stands for, or marks it as
// transient.
func classify(err error) error {
	var answer *answerError
	switch {
	case err == nil, errors.Is(err, context.Canceled), objectstore.IsTransient(err):
		return err
	case errors.As(err, &answer):
		return classifyAnswer(answer, err)
	}
	if token, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if status := token.Response; status != nil && (status.StatusCode >= 500 || status.StatusCode == http.StatusTooManyRequests) {
			return objectstore.Transient(err, 0)
		}
		return fmt.Errorf("%w: %w", objectstore.ErrUnauthenticated, err)
	}
	if wire.IsBroken(err) {
		return objectstore.Transient(err, 0)
	}
	return err
}

func classifyAnswer(answer *answerError, err error) error {
	var sentinel error
	switch answer.status {
	case http.StatusNotFound:
		if strings.Contains(answer.message, "bucket does not exist") {
			return fmt.Errorf("%w: %w", objectstore.ErrNoBucket, err)
		}
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
		if answer.reason == "rateLimitExceeded" || answer.reason == "userRateLimitExceeded" {
			return objectstore.Transient(err, answer.retryAfter)
		}
		sentinel = objectstore.ErrPermissionDenied
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return objectstore.Transient(err, answer.retryAfter)
	default:
		if answer.status >= 500 {
			return objectstore.Transient(err, answer.retryAfter)
		}
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// writeError turns the refusal of a conditional write into the error that its
// mode has.
func writeError(err error, mode objectstore.PutMode) error {
	err = classify(err)
	if mode == objectstore.Create && errors.Is(err, objectstore.ErrPrecondition) {
		return fmt.Errorf("%w: %w", objectstore.ErrAlreadyExists, err)
	}
	return err
}

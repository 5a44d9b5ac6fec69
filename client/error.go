package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/stardustdb/stardust"
)

// maxProblem bounds how much of an error's document is read, in bytes.
const maxProblem = 64 << 10

// problemError returns what the server says is wrong.
func problemError(resp *http.Response) error {
	var problem struct {
		Status, Code, Message string
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil || json.Unmarshal(text, &problem) != nil || problem.Message == "" {
		return &stardust.Error{Status: statusOf(resp.StatusCode), Op: "client", Message: "the server answers " + resp.Status}
	}
	status := statusOf(resp.StatusCode)
	for s := stardust.StatusInvalidArgument; s <= stardust.StatusCanceled; s++ {
		if s.String() == problem.Status {
			status = s
		}
	}
	return &stardust.Error{Status: status, Code: problem.Code, Op: "client", Message: problem.Message}
}

// statusOf returns what an HTTP status means when the answer has no problem
// document.
func statusOf(code int) stardust.Status {
	switch code {
	case http.StatusNotFound:
		return stardust.StatusNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return stardust.StatusConflict
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return stardust.StatusUnavailable
	}
	if code < http.StatusInternalServerError {
		return stardust.StatusInvalidArgument
	}
	return stardust.StatusIO
}

// transportError is the error of a request that got no answer.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return &stardust.Error{Status: stardust.StatusCanceled, Op: "client", Message: "the request was canceled; a write may have been made all the same", Err: err}
	}
	return &stardust.Error{Status: stardust.StatusIO, Op: "client", Message: err.Error(), Err: err}
}

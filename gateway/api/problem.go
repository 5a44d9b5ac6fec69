package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

const typeProblem = "application/problem+json"

// Problem is the document of an error. Its status is the spec's word; HTTP's
// status is in the answer's first line.
type Problem struct {
	Status  string `json:"status" example:"not_found" doc:"The status of the objects spec."`
	Code    string `json:"code,omitempty" example:"name_taken" doc:"What the status means here, where it has several meanings."`
	Message string `json:"message" doc:"What happened, to which thing, and what to do."`
	Type    string `json:"type" example:"about:blank" doc:"As in RFC 9457."`
	Title   string `json:"title" doc:"As in RFC 9457: the text of the HTTP status."`
	Detail  string `json:"detail" doc:"As in RFC 9457: the message."`

	http int
}

// Error implements error.
func (p *Problem) Error() string { return p.Message }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.http }

// ContentType returns that of problem documents.
func (p *Problem) ContentType(string) string { return typeProblem }

func newProblem(status stardust.Status, code, message string, httpStatus int) *Problem {
	return &Problem{
		Status: status.String(), Code: code, Message: message,
		Type: "about:blank", Title: http.StatusText(httpStatus), Detail: message, http: httpStatus,
	}
}

func tooLarge(limit int64) *Problem {
	return newProblem(stardust.StatusInvalidArgument, codeTooLarge, "the body is larger than the "+strconv.FormatInt(limit, 10)+" bytes that are taken", http.StatusRequestEntityTooLarge)
}

func badRequest(message string) *Problem {
	return newProblem(stardust.StatusInvalidArgument, "", message, http.StatusBadRequest)
}

// problemOf returns the document of an error.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if isBusy(err) {
		return newProblem(stardust.StatusUnavailable, codeBusy, err.Error(), http.StatusServiceUnavailable)
	}
	var e *stardust.Error
	if !errors.As(err, &e) {
		return newProblem(stardust.StatusIO, "", err.Error(), http.StatusInternalServerError)
	}
	return newProblem(e.Status, e.Code, e.Error(), httpStatus(e))
}

// isBusy reports whether a body had to give way to others.
func isBusy(err error) bool {
	return errors.Is(err, patience.ErrBusy) || errors.Is(err, patience.ErrSlow)
}

// httpStatus returns the HTTP status of an error.
func httpStatus(e *stardust.Error) int {
	switch e.Status {
	case stardust.StatusInvalidArgument:
		return http.StatusBadRequest
	case stardust.StatusNotFound:
		return http.StatusNotFound
	case stardust.StatusConflict:
		return http.StatusConflict
	case stardust.StatusUnavailable:
		if e.Code == stardust.CodeReadOnly {
			return http.StatusForbidden
		}
		return http.StatusServiceUnavailable
	case stardust.StatusClosed, stardust.StatusOutOfMemory, stardust.StatusCanceled:
		return http.StatusServiceUnavailable
	case stardust.StatusIO:
		if e.Code == stardust.CodeNoSpace {
			return http.StatusInsufficientStorage
		}
	}
	return http.StatusInternalServerError
}

// problemTransformer gives the router's own errors the form of all others.
func problemTransformer(_ huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	var message strings.Builder
	message.WriteString(model.Detail)
	for _, detail := range model.Errors {
		message.WriteString("; " + detail.Error())
	}
	code := ""
	if model.Status == http.StatusRequestEntityTooLarge {
		code = codeTooLarge
	}
	return newProblem(stardust.StatusInvalidArgument, code, message.String(), model.Status), nil
}

// writeProblem answers with an error, unless the answer has begun.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	header := w.Header()
	for _, name := range []string{"ETag", "Content-Disposition", "Cache-Control", "Last-Modified", "Content-Length", "Content-Encoding", "Link"} {
		header.Del(name)
	}
	header.Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.http)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(p) // the client has gone, then
	}
}

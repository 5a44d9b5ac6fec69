package stardust

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/commit"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/digest"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/tree"
)

// The codes that tell errors of one status apart, where a program may want to
// act on the difference. Other errors have an empty code.
const (
	// CodePluginRequired: a write needs a plugin that is not enabled.
	CodePluginRequired = "plugin_required"
	// CodeNameTaken: the parent has another child of that name.
	CodeNameTaken = "name_taken"
	// CodeOtherKind: a file has the name of a directory, or the other way round.
	CodeOtherKind = "other_kind"
	// CodeStaleRevision: the node changed since the expected revision.
	CodeStaleRevision = "stale_revision"
	// CodeWritesHeld: the database holds writes (see DB.HoldWrites).
	CodeWritesHeld = "writes_held"
	// CodeReadOnly: the database was opened read-only, or the view is a
	// snapshot of the past.
	CodeReadOnly = "read_only"
	// CodeInUse: another writer has the file open.
	CodeInUse = "in_use"
	// CodeNotDatabase: the file is not a Stardust database.
	CodeNotDatabase = "not_a_database"
	// CodeNewerFormat: a newer Stardust wrote the file.
	CodeNewerFormat = "newer_format"
	// CodeLogMissing: the write-ahead log with the latest commits is missing, cut
	// or damaged; see Options.AcceptMissingLog.
	CodeLogMissing = "log_missing"
	// CodeNotEmpty: a directory has children.
	CodeNotEmpty = "not_empty"
	// CodeNoSpace: the disk is full.
	CodeNoSpace = "no_space"
	// CodeForgotten: the revision was forgotten, or the content that only such
	// revisions had (see DB.Forget).
	CodeForgotten = "forgotten"
	// CodeUnpublished: a digest names no published payload.
	CodeUnpublished = "not_published"
)

// Error is what every call of this package returns when it fails. It answers
// errors.Is for its Status and, so that standard code works with it, for the
// errors of io/fs that mean the same: fs.ErrNotExist for StatusNotFound,
// fs.ErrExist for a taken name, fs.ErrInvalid for StatusInvalidArgument and
// fs.ErrClosed for StatusClosed.
type Error struct {
	Status  Status
	Code    string // one of the Code constants, or empty
	Op      string // the operation, such as "objects.create"
	Message string // what happened to which thing, and what to do
	Err     error  // the cause, or nil
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Op + ": " + e.Status.String()
	if e.Op == "" {
		text = e.Status.String()
	}
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target means what e means; see [Error].
func (e *Error) Is(target error) bool {
	if s, ok := target.(Status); ok {
		return e.Status == s
	}
	switch target {
	case fs.ErrNotExist:
		return e.Status == StatusNotFound
	case fs.ErrExist:
		return e.Code == CodeNameTaken || e.Code == CodeOtherKind
	case fs.ErrInvalid:
		return e.Status == StatusInvalidArgument
	case fs.ErrClosed:
		return e.Status == StatusClosed
	}
	return false
}

func invalid(format string, args ...any) error {
	return tree.Refuse(tree.Invalid, format, args...)
}

func notFound(format string, args ...any) error {
	return tree.Refuse(tree.Missing, format, args...)
}

func conflict(code, format string, args ...any) error {
	return &Error{Status: StatusConflict, Code: code, Message: fmt.Sprintf(format, args...)}
}

func damaged(err error, format string, args ...any) error {
	return &Error{Status: StatusEvaluationFailed, Message: fmt.Sprintf(format, args...), Err: err}
}

// asError gives every cause its status. withOp applies it once, on an error's
// way out to the caller.
func asError(err error) error {
	var e *Error
	var r *tree.Refusal
	var f *catalog.ForgottenError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return &Error{Status: StatusNotFound, Code: CodeForgotten, Message: f.Error()}
	case errors.Is(err, payload.ErrForgotten):
		return &Error{Status: StatusNotFound, Code: CodeForgotten, Message: err.Error()}
	case errors.As(err, &e):
		return err
	case errors.As(err, &r):
		return refused(r)
	case errors.Is(err, digest.ErrMalformed), errors.Is(err, payload.ErrArgument):
		return &Error{Status: StatusInvalidArgument, Message: err.Error()}
	case errors.Is(err, commit.ErrHeld):
		return &Error{Status: StatusConflict, Code: CodeWritesHeld, Message: commit.ErrHeld.Error()}
	case errors.Is(err, commit.ErrClosed), errors.Is(err, payload.ErrClosed):
		return &Error{Status: StatusClosed, Message: err.Error()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Status: StatusCanceled, Err: err}
	case errors.Is(err, payload.ErrNoMemory):
		return &Error{Status: StatusOutOfMemory, Message: err.Error()}
	case errors.Is(err, payload.ErrGone):
		return conflict("", "%v", err)
	case errors.Is(err, payload.ErrDamaged):
		return damaged(nil, "%v", err)
	case payload.IsDamage(err), errors.Is(err, container.ErrTruncated):
		return &Error{Status: StatusEvaluationFailed, Err: err}
	case errors.Is(err, catalog.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{
			Status: StatusIO, Code: CodeNoSpace,
			Message: "the disk is full; make room and try again, nothing was lost", Err: err,
		}
	}
	return &Error{Status: StatusIO, Err: err}
}

// refused gives a refusal the status and code of its reason.
func refused(r *tree.Refusal) error {
	e := &Error{Message: r.Message}
	switch r.Reason {
	case tree.Missing:
		e.Status = StatusNotFound
	case tree.Unpublished:
		e.Status, e.Code = StatusNotFound, CodeUnpublished
	case tree.Taken:
		e.Status, e.Code = StatusConflict, CodeNameTaken
	case tree.OtherKind:
		e.Status, e.Code = StatusConflict, CodeOtherKind
	case tree.Stale:
		e.Status, e.Code = StatusConflict, CodeStaleRevision
	case tree.NotEmpty:
		e.Status, e.Code = StatusInvalidArgument, CodeNotEmpty
	default:
		e.Status = StatusInvalidArgument
	}
	return e
}

// withOp names the operation in err, giving a bare cause its status first. It
// ends every call, so that what lies below returns plain causes.
func withOp(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	err = asError(err)
	if errors.As(err, &e) && e.Op == "" {
		named := *e
		named.Op = op
		return &named
	}
	return err
}

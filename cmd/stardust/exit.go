package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/stardustdb/stardust"
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// stoppedError is an interruption, with what the person should know about it.
type stoppedError struct {
	note string
	err  error
}

func (s *stoppedError) Error() string { return s.note }
func (s *stoppedError) Unwrap() error { return s.err }

// stopped adds a note to err when ctx was interrupted.
func stopped(ctx context.Context, err error, note string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return &stoppedError{note, err}
}

// exitCode returns the exit code that an error means.
func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, stardust.StatusCanceled)):
		return exitInterrupted
	}
	return exitFailed
}

// complaint is the message for the person.
func complaint(code int, err error) string {
	if code != exitInterrupted {
		return explain(err)
	}
	// The innermost note knows most.
	note := "what had not finished changed nothing"
	for s := (*stoppedError)(nil); errors.As(err, &s); err = s.err {
		note = s.note
	}
	return "interrupted; " + note
}

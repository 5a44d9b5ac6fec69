package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust"
)

// Errors reach the person as what happened to which thing, without the names of
// Go's operations and types.
func TestErrorsInWords(t *testing.T) {
	denied := &fs.PathError{Op: "openat", Path: "a/b", Err: syscall.EACCES}
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{denied, "a/b: permission denied"},
		{&os.LinkError{Op: "rename", Old: "x", New: "y", Err: syscall.EXDEV}, "y: invalid cross-device link"},
		{os.NewSyscallError("fsync", syscall.EIO), "input/output error"},
		{errors.Join(denied, errors.New("and more")), "a/b: permission denied; and more"},
		{about("/x", denied), "/x: a/b: permission denied"},
		{&stardust.Error{Status: stardust.StatusNotFound, Op: "objects.get", Message: "entity 7: no file has it"}, "entity 7: no file has it"},
		{&stardust.Error{Status: stardust.StatusIO, Op: "open", Err: denied}, "a/b: permission denied"},
		{&stardust.Error{Status: stardust.StatusIO, Code: stardust.CodeNoSpace, Message: "the disk is full", Err: syscall.ENOSPC}, "the disk is full"},
		{&stardust.Error{Status: stardust.StatusEvaluationFailed, Op: "x", Err: errors.New("row 3")}, "stored bytes are damaged: row 3"},
		{&stardust.Error{Status: stardust.StatusEvaluationFailed, Message: "chunk 5", Err: errors.New("digest differs")}, "chunk 5: digest differs"},
		{&stardust.Error{Status: stardust.StatusOutOfMemory, Message: "no room"}, "no room; try again with fewer --workers"},
		{&stardust.Error{Status: stardust.StatusConflict, Code: stardust.CodeInUse, Message: "held"}, "held; --lock-timeout says how long to wait for it"},
		{&stardust.Error{Status: stardust.StatusConflict, Code: stardust.CodeNameTaken, Message: "nodes[0]"}, "something else has that name already"},
		{&stardust.Error{Status: stardust.StatusClosed}, "closed"},
		{&fs.PathError{Op: "read", Path: "f", Err: &stardust.Error{Status: stardust.StatusOutOfMemory}}, "f: out of memory; try again with fewer --workers"},
	} {
		if got := explain(test.err); got != test.want {
			t.Errorf("%v:\n got %s\nwant %s", test.err, got, test.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	alive := t.Context()
	ended, end := context.WithCancel(alive)
	end()
	canceled := fmt.Errorf("read: %w", context.Canceled)
	for _, test := range []struct {
		name    string
		ctx     context.Context //nolint:containedctx // a case of the table
		err     error
		want    int
		message string
	}{
		{"usage", alive, usagef("no %s", "sense"), exitUsage, "no sense"},
		{"failure", alive, errors.New("it failed"), exitFailed, "it failed"},
		{"failure although interrupted", ended, errors.New("it failed"), exitFailed, "it failed"},
		{"failure although interrupted, with a note", ended, stopped(ended, errors.New("it failed"), "run it again"), exitFailed, "it failed"},
		{"canceled by itself", alive, canceled, exitFailed, "read: context canceled"},
		{"interrupted", ended, canceled, exitInterrupted, "interrupted; what had not finished changed nothing"},
		{"interrupted in the database", ended, &stardust.Error{Status: stardust.StatusCanceled}, exitInterrupted, "interrupted; what had not finished changed nothing"},
		{"interrupted with a note", ended, stopped(ended, canceled, "run it again"), exitInterrupted, "interrupted; run it again"},
		{"interrupted with two notes", ended, stopped(ended, about("x", stopped(ended, canceled, "inner")), "outer"), exitInterrupted, "interrupted; inner"},
		{"a note without interruption", alive, stopped(alive, errors.New("it failed"), "run it again"), exitFailed, "it failed"},
	} {
		got := exitCode(test.ctx, test.err)
		if got != test.want {
			t.Errorf("%s: exit code %d, want %d", test.name, got, test.want)
		}
		if message := complaint(got, test.err); message != test.message {
			t.Errorf("%s: %q, want %q", test.name, message, test.message)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// run runs one command line and returns its exit code. The first SIGINT or
// SIGTERM asks the command to stop, which leaves every file whole; a second one
// ends the process as usual.
func run(ctx context.Context, e *env, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()

	root := newRootCommand(e)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if flushed := e.out.Flush(); err == nil && flushed != nil {
		err = about("standard output", flushed)
	}
	if err == nil {
		return exitOK
	}
	code := exitCode(ctx, err)
	fmt.Fprintf(e.err, "%s: %s\n", command.CommandPath(), printable(complaint(code, err)))
	if code == exitUsage {
		fmt.Fprintf(e.err, "Run '%s --help' to see how it is used.\n", command.CommandPath())
	}
	return code
}

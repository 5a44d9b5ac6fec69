package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/stardustdb/stardust"
)

// env is the world as a command sees it. Only one goroutine may use it at a
// time.
type env struct {
	in  io.Reader
	out *bufio.Writer // run flushes it
	err io.Writer

	outTerminal bool
	errTerminal bool
	now         func() time.Time
	// indexes is where imports keep what they saw; empty means nowhere.
	indexes string

	// What the flags of the root command say.
	lockTimeout time.Duration
	// acceptMissingLog opens a database in the state before its lost log.
	acceptMissingLog bool
	// compression is that of a database from now on, or empty.
	compression stardust.Compression
	quiet       bool
	verbose     bool
}

// newEnv returns the process's own streams and clock.
func newEnv() *env {
	return &env{
		in:          os.Stdin,
		out:         bufio.NewWriterSize(os.Stdout, 64<<10),
		err:         os.Stderr,
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		now:         time.Now,
		indexes:     indexDir(),
	}
}

// printf writes a part of the command's result. A broken stream shows when run
// flushes it.
func (e *env) printf(format string, args ...any) {
	fmt.Fprintf(e.out, format, args...)
}

// println writes a line of the command's result as it is.
func (e *env) println(line string) {
	_, _ = e.out.WriteString(line)
	_ = e.out.WriteByte('\n')
}

// notice tells the person at the keyboard something besides the result.
func (e *env) notice(format string, args ...any) {
	if !e.quiet {
		fmt.Fprintln(e.err, printable(fmt.Sprintf(format, args...)))
	}
}

// logger returns the log for the database.
func (e *env) logger() *slog.Logger {
	if !e.verbose {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(e.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

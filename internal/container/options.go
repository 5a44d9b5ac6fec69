package container

import (
	"log/slog"
	"time"
)

// Options says how to open a file. The zero value opens an existing file for
// writing, without waiting for another writer.
type Options struct {
	// ReadOnly opens the file without the right to change it. It works beside a
	// writer, in this process or another.
	ReadOnly bool
	// Create makes the file when there is none. It is built under a temporary
	// name and appears whole.
	Create bool
	// LockTimeout is how long to wait for another writer to close the file.
	LockTimeout time.Duration
	// Logger gets what a person may want to know; nil discards it.
	Logger *slog.Logger
	// Hook, for tests, sees every change on its way to the disk.
	Hook Hook
}

func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

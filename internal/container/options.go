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
	// Tentative opens a file for writing without changing anything yet: that
	// happens when Begin is called. A Close before leaves everything as it was.
	Tentative bool
	// AcceptMissingLog opens a file although its write-ahead log, or a part of
	// it, is missing: as it was before the commits in it. See Accepted.
	AcceptMissingLog bool
	// Draft, with Create, marks a new file as one that is still being filled,
	// until Finish; RemoveDraft removes only such files.
	Draft bool
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

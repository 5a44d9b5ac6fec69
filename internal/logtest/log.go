// Package logtest lets tests read a log that others write meanwhile.
package logtest

import (
	"bytes"
	"log/slog"
	"sync"
)

// Log is a log in memory. The zero value is empty. It may be used concurrently.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger returns a logger that writes lines of text into the log from a level on; nil
// means Info.
func (l *Log) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level}))
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

package container

import (
	"errors"
	"os"
	"time"
)

// Our locks are on bytes far beyond any file's end, on a descriptor that SQLite
// knows nothing of: its unlocking clears all locks of its own.
const (
	lockBase = int64(1) << 62
	// writerByte is held exclusively by the one writer.
	writerByte = lockBase
	// presentByte is shared by all that have the file open. Who gets it
	// exclusively is alone.
	presentByte = lockBase + 1
	// pinByte is held exclusively by the writer, and shared by readers that see
	// a file at rest without SQLite's locks and so must keep writers out.
	pinByte = lockBase + 2
	// readyByte is held exclusively by a writer that has found out which log is
	// the file's own: readers wait for that.
	readyByte = lockBase + 3
)

// lockPoll is how often a taken lock is tried again.
const lockPoll = 10 * time.Millisecond

// errLockTaken means that somebody else has the lock.
var errLockTaken = errors.New("lock is taken")

// locks are the locks of one Container. Closing them, or the process's death,
// releases all.
type locks struct{ file *os.File }

// openLocks opens the descriptor that the locks belong to. When the file cannot
// be written, only shared locks can be had.
func openLocks(path string) (*locks, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	return &locks{f}, nil
}

// wait tries to get a lock until it has it, ready says stop, or the time is
// over; then it returns errLockTaken.
func (l *locks) wait(at int64, exclusive bool, timeout time.Duration, ready func() bool) error {
	over := time.NewTimer(timeout)
	defer over.Stop()
	again := time.NewTicker(lockPoll)
	defer again.Stop()
	for {
		err := l.set(at, exclusive)
		if timeout <= 0 || !errors.Is(err, errLockTaken) || ready != nil && ready() {
			return err
		}
		select {
		case <-again.C:
		case <-over.C:
			return l.set(at, exclusive)
		}
	}
}

func (l *locks) close() error { return l.file.Close() }

package file

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/stardustdb/stardust/objectstore"
)

// stripes is how many locks share the paths among them.
const stripes = 16

// locks exclude writers of one path from each other: a mutex those of this
// Store, a lock on a file those of other Stores and processes. They are held for
// the moment of a commit, never while a body is read.
type locks struct {
	root    *os.Root
	stripes [stripes]stripe
}

type stripe struct {
	mu     sync.Mutex
	file   *os.File // opened at first use
	closed bool
}

// lock locks the paths and returns what unlocks them.
func (l *locks) lock(paths ...objectstore.Path) (unlock func(), err error) {
	var numbers []int
	for _, path := range paths {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(path))
		numbers = append(numbers, int(hash.Sum32()%stripes))
	}
	// All lock in one order, so that no two wait for each other.
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	var held []*stripe
	unlock = func() {
		for _, s := range slices.Backward(held) {
			// The lock goes with the process at the latest.
			_ = unlockFile(s.file)
			s.mu.Unlock()
		}
	}
	for _, n := range numbers {
		s := &l.stripes[n]
		s.mu.Lock()
		if err := l.lockFile(s, n); err != nil {
			s.mu.Unlock()
			unlock()
			return nil, err
		}
		held = append(held, s)
	}
	return unlock, nil
}

func (l *locks) lockFile(s *stripe, number int) error {
	if s.closed {
		return os.ErrClosed
	}
	if s.file == nil {
		name := fmt.Sprintf("%s/%02d", locksDir, number)
		open := func() (err error) {
			s.file, err = l.root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
			return err
		}
		err := open()
		if errors.Is(err, fs.ErrNotExist) {
			if err := l.root.MkdirAll(locksDir, 0o777); err != nil {
				return err
			}
			err = open()
		}
		if err != nil {
			s.file = nil
			return err
		}
	}
	return lockFile(s.file)
}

// close waits for those that hold a lock.
func (l *locks) close() error {
	var errs []error
	for i := range l.stripes {
		s := &l.stripes[i]
		s.mu.Lock()
		s.closed = true
		if s.file != nil {
			errs = append(errs, s.file.Close())
			s.file = nil
		}
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}

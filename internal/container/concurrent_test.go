package container

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// Readers of this process and, through a Container of their own, as another
// process would be, read while a writer commits, checkpoints and adds extents.
// Each snapshot is whole: a first page that is being written is no damage.
func TestReadersMeetCheckpoints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	table(t, path)
	writer := openTest(t, path, Options{Hook: func(op Op, do func() error) error {
		if op.Kind == OpSync {
			return nil
		}
		return do()
	}})
	outside := openTest(t, path, Options{ReadOnly: true})
	conn := connect(t, writer)
	run(t, conn, `PRAGMA wal_autocheckpoint = 10`)
	done := make(chan struct{})
	var wg sync.WaitGroup
	stop := sync.OnceFunc(func() { close(done); wg.Wait() })
	defer stop()
	for _, c := range []*Container{writer, outside, outside} {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := readOnce(c); err != nil {
					t.Errorf("read-only %v, round %d: %v", c.ReadOnly(), i, err)
					return
				}
			}
		})
	}
	for range 120 {
		run(t, conn, `INSERT INTO t (b) SELECT randomblob(3000) FROM generate_series(1, 5)`)
	}
	stop()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// readOnce opens a connection, for that is when the first page is read without a
// lock, and looks at a snapshot.
func readOnce(c *Container) (err error) {
	conn, err := dial(c)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	got, err := queryText(conn, `SELECT (count(*) % 5) + abs(count(*) - coalesce(sum(length(b) = 3000), 0)) FROM t`)
	if err == nil && got != "0" {
		err = fmt.Errorf("a torn snapshot: %s", got)
	}
	return err
}

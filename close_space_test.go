package stardust

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stardustdb/stardust/internal/container"
)

// TestClosingOnAFullDiskSaysSo fills the disk before the last pages are written
// back. Nothing is lost: they are in the log.
func TestClosingOnAFullDiskSaysSo(t *testing.T) {
	path := filepath.Join(FastDir(t), "db")
	var full atomic.Bool
	options := &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}}
	options.hook = func(op container.Op, do func() error) error {
		if full.Load() && op.Kind == container.OpWrite && !op.WAL {
			return syscall.ENOSPC
		}
		return do()
	}
	db, err := Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Tree().Create(NewNode{Name: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	var e *Error
	if err := db.Close(); !errors.As(err, &e) || e.Code != CodeNoSpace {
		t.Errorf("close: %v", err)
	}
	options.hook = nil
	db, err = Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := db.Tree().Get(made[0].Entity); err != nil || got.Name != "kept" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

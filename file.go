package stardust

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"syscall"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/newfile"
	"github.com/stardustdb/stardust/internal/payload"
)

// file is the one file of a database: the container, and the heap of chunks in
// it.
type file struct {
	container *container.Container
	heap      *heap.Heap
}

func openContainer(path string, o *Options) (*file, error) {
	c, err := container.Open(path, container.Options{
		ReadOnly: o.ReadOnly, Create: !o.ReadOnly && !o.MustExist,
		LockTimeout: o.LockTimeout, Logger: o.Logger,
		Tentative: true, AcceptMissingLog: o.AcceptMissingLog,
		Hook: o.hook,
	})
	if err != nil {
		return nil, err
	}
	return &file{c, heap.New(c)}, nil
}

// openDraft makes a new file for a copy, which opens as a database only once it
// is whole.
func openDraft(path string, log *slog.Logger) (*file, error) {
	c, err := container.Open(path, container.Options{Create: true, Draft: true, Logger: log})
	if err != nil {
		return nil, err
	}
	return &file{c, heap.New(c)}, nil
}

func (f *file) dsn() string       { return f.container.DSN() }
func (f *file) pragmas() []string { return container.Pragmas() }
func (f *file) path() string      { return f.container.Path() }

// close ends the heap's background work, then closes the file.
func (f *file) close() error {
	f.heap.Close()
	return errors.Join(f.heap.CutEnd(), f.container.Close())
}

func (f *file) identity() string {
	identity := f.container.Identity()
	return hex.EncodeToString(identity[:])
}

func (f *file) size() (int64, error) {
	info, err := os.Stat(f.container.Path())
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// adopt tells the heap which records are live, so that it may use the rest, and
// refuses a file that is shorter than its records reach.
//
// After a clean close the superblock says how long the file must be, and the
// rows are read only before something is appended, since that takes time in
// proportion to the chunks.
func (f *file) adopt(v *catalog.View, c *catalog.Catalog, readOnly bool) error {
	if f.container.Settled() {
		if !readOnly {
			f.heap.SetLiveLater(func() error { return c.Read(context.Background(), catalog.Live, f.setLive) })
		}
		return nil
	}
	end, err := lastRecord(v)
	if err != nil {
		return err
	}
	if err := f.container.CheckEnd(end); err != nil || readOnly {
		return err
	}
	return f.setLive(v)
}

func (f *file) setLive(v *catalog.View) error {
	var bad error
	live := func(yield func(heap.Location) bool) {
		bad = v.Chunks(0, func(c *catalog.Chunk) bool {
			return yield(payload.Place(c))
		})
	}
	err := f.heap.SetLive(iter.Seq[heap.Location](live))
	return errors.Join(bad, err)
}

// lastRecord returns where the last record that a row names ends.
func lastRecord(v *catalog.View) (int64, error) {
	last, found, err := v.LastChunk()
	if err != nil || !found {
		return 0, err
	}
	return payload.Place(&last).End(), nil
}

// openError says why a file was refused, and what to do.
func openError(path string, err error) error {
	e := &Error{Status: StatusIO, Err: err}
	switch {
	case errors.Is(err, container.ErrLocked):
		e.Status, e.Code = StatusConflict, CodeInUse
	case errors.Is(err, container.ErrEmpty), errors.Is(err, container.ErrNotDatabase), errors.Is(err, syscall.EISDIR):
		e.Status, e.Code = StatusInvalidArgument, CodeNotDatabase
	case errors.Is(err, container.ErrNewer), errors.Is(err, catalog.ErrNewer):
		e.Status, e.Code = StatusInvalidArgument, CodeNewerFormat
	case errors.Is(err, container.ErrDamaged), errors.Is(err, container.ErrTruncated), errors.Is(err, container.ErrPage), payload.IsDamage(err):
		e.Status = StatusEvaluationFailed
	case errors.Is(err, container.ErrLogMissing), errors.Is(err, container.ErrLogDamaged), errors.Is(err, container.ErrTornCopy):
		e.Status, e.Code = StatusEvaluationFailed, CodeLogMissing
		e.Message = "the latest commits are not there; put the log that belongs to the file back beside it, restore a backup, " +
			"or open it as it was before them with Options.AcceptMissingLog"
	case errors.Is(err, container.ErrOccupied):
		e.Status = StatusConflict
	case errors.Is(err, container.ErrReadOnly):
		e.Status, e.Code = StatusUnavailable, CodeReadOnly
	case errors.Is(err, container.ErrNotRecovered), errors.Is(err, container.ErrUnsupported):
		e.Status = StatusUnavailable
	case errors.Is(err, fs.ErrNotExist):
		e.Status = StatusNotFound
		e.Message = fmt.Sprintf("there is no database at %s", path)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			e.Err = fs.ErrNotExist // the rest would name the path again; a link that leads nowhere is told
		}
	case errors.Is(err, fs.ErrInvalid):
		e.Status = StatusInvalidArgument
	default:
		return asError(err)
	}
	return e
}

// renameDurably gives a finished file its name, for good. It never replaces
// another.
func renameDurably(from, to string) error {
	err := newfile.NameDurably(from, to)
	if errors.Is(err, fs.ErrExist) {
		return conflict("", "%s appeared meanwhile; a backup makes a new file", to)
	}
	return err
}

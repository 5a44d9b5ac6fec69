package webdav

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/net/webdav"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
	"github.com/stardustdb/stardust/gateway/internal/patience"
)

// files is the tree for one request; only its goroutine uses it.
type files struct {
	handler *Handler
	grant   *grant.Grant
	method  string
	ctx     context.Context //nolint:containedctx // of the one request that it serves
	tree    stardust.Tree   // bound to ctx
	// interrupt ends a read of the request's body that is under way.
	interrupt func()
	modified  time.Time // of the file that is put, zero when it is not said

	// replaced is the path of a node that the request has removed to put another
	// there, and that is still there: the new one replaces it in one commit.
	replaced string
	// failed is the HTTP status of what went wrong, zero when it has none.
	failed int
}

// fail returns an error as a file system gives it.
func (f *files) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, stardust.StatusNotFound):
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case errors.Is(err, stardust.StatusInvalidArgument):
		f.failed = http.StatusConflict
	case errors.Is(err, stardust.StatusConflict):
		f.failed = http.StatusConflict
	case errors.Is(err, stardust.StatusUnavailable):
		f.failed = http.StatusForbidden
	case errors.Is(err, stardust.StatusOutOfMemory), errors.Is(err, patience.ErrBusy), errors.Is(err, patience.ErrSlow):
		f.failed = http.StatusServiceUnavailable
	case errors.Is(err, stardust.StatusCanceled):
		f.failed = http.StatusBadRequest
	default:
		var e *stardust.Error
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			f.failed = http.StatusRequestEntityTooLarge
		case errors.As(err, &e) && e.Code == stardust.CodeNoSpace:
			f.failed = http.StatusInsufficientStorage
		case errors.As(err, &e):
			f.failed = http.StatusInternalServerError
			f.handler.options.Logger.Error("webdav", "op", op, "path", name, "error", err)
		default:
			f.failed = http.StatusBadRequest // of the body
		}
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (f *files) resolve(name string) (stardust.Record, error) {
	return f.tree.Resolve(f.grant.Path(name))
}

// parent returns the directory that a path is in, and its name there.
func (f *files) parent(name string) (stardust.Record, string, error) {
	clean := strings.Trim(name, "/")
	if clean == "" {
		return stardust.Record{}, "", fs.ErrInvalid
	}
	full := f.grant.Path(clean)
	dir, base := path.Split(full)
	record, err := f.tree.Resolve(dir)
	if err == nil && record.Kind != stardust.KindDirectory {
		err = fs.ErrInvalid
	}
	return record, base, err
}

// Mkdir implements webdav.FileSystem.
func (f *files) Mkdir(_ context.Context, name string, _ os.FileMode) error {
	parent, base, err := f.parent(name)
	if err == nil && f.replaced == clean(name) {
		err = f.removeReplaced()
	}
	if err != nil {
		return f.fail("mkdir", name, err)
	}
	_, err = f.tree.Create(stardust.NewNode{Name: base, Parent: parent.Entity})
	if errors.Is(err, stardust.StatusConflict) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist} // 405, as RFC 4918 says
	}
	return f.fail("mkdir", name, err)
}

// OpenFile implements webdav.FileSystem.
func (f *files) OpenFile(_ context.Context, name string, flag int, _ os.FileMode) (webdav.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 && flag&os.O_CREATE != 0 {
		parent, base, err := f.parent(name)
		if err != nil {
			return nil, f.fail("open", name, err)
		}
		return &newFile{files: f, name: name, parent: parent, base: base}, nil
	}
	record, err := f.resolve(name)
	if err != nil {
		return nil, f.fail("open", name, err)
	}
	return &file{files: f, record: record}, nil
}

// RemoveAll implements webdav.FileSystem. When a move or copy will put another
// node in a file's place, the removal waits for that.
func (f *files) RemoveAll(_ context.Context, name string) error {
	record, err := f.resolve(name)
	switch {
	case errors.Is(err, stardust.StatusNotFound):
		return nil
	case err == nil && record.Entity == 0, err == nil && clean(name) == "":
		err = &stardust.Error{Status: stardust.StatusUnavailable, Op: "webdav", Message: "the root cannot be removed"}
	case err == nil && record.Kind == stardust.KindFile && (f.method == "MOVE" || f.method == "COPY"):
		f.replaced = clean(name)
		return nil
	case err == nil:
		err = f.tree.RemoveAll(record.Entity)
	}
	return f.fail("remove", name, err)
}

func (f *files) removeReplaced() error {
	record, err := f.resolve(f.replaced)
	f.replaced = ""
	if err == nil {
		err = f.tree.Remove(record.Entity, 0)
	}
	return err
}

// Rename implements webdav.FileSystem.
func (f *files) Rename(_ context.Context, from, to string) error {
	record, err := f.resolve(from)
	if err != nil {
		return f.fail("rename", from, err)
	}
	replaces := f.replaced != "" && f.replaced == clean(to)
	if replaces && record.Kind == stardust.KindDirectory {
		if err := f.removeReplaced(); err != nil {
			return f.fail("rename", to, err)
		}
		replaces = false
	}
	parent, base, err := f.parent(to)
	if err == nil {
		_, err = f.tree.Move(record.Entity, parent.Entity, base, 0, replaces)
	}
	return f.fail("rename", to, err)
}

// Stat implements webdav.FileSystem.
func (f *files) Stat(_ context.Context, name string) (os.FileInfo, error) {
	if f.replaced != "" && f.replaced == clean(name) {
		return nil, f.fail("stat", name, fs.ErrNotExist)
	}
	record, err := f.resolve(name)
	if err != nil {
		return nil, f.fail("stat", name, err)
	}
	return f.info(record)
}

func clean(name string) string { return strings.Trim(name, "/") }

// keepTime gives a file the time that the client sent.
func (f *files) keepTime(record stardust.Record) error {
	if f.modified.IsZero() {
		return nil
	}
	return f.change(record, "stardust/file", map[string]any{"mtime": f.modified.UTC().Format(time.RFC3339Nano)})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stardustdb/stardust"
)

// What a path may turn out to be.
var (
	errNotDirectory = errors.New("is a file, not a directory")
	errIsDirectory  = errors.New("is a directory, not a file")
)

// session is an open database with the view that a command works on. It lasts
// for one command, to whose context tree is bound.
type session struct {
	db   *stardust.DB
	tree stardust.Tree
}

// read opens a database for reading and calls fn with an unchanging view: the
// latest state, or an older one. It never makes the file.
func (e *env) read(ctx context.Context, file string, at *revision, fn func(*session) error) error {
	db, err := stardust.Open(file, e.options(true))
	if err != nil {
		return openFailure(file, err)
	}
	defer db.Close()
	view, err := at.view(db)
	if err != nil {
		return err
	}
	return fn(&session{db, view.Tree().WithContext(ctx)})
}

// readOrNothing is read of the latest state, or of an empty database when there is
// none.
func (e *env) readOrNothing(ctx context.Context, file string, fn func(*session) error) error {
	if _, err := os.Stat(file); !isMissing(err) && file != "" {
		return e.read(ctx, file, nil, fn)
	}
	dir, err := os.MkdirTemp("", "stardust-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	quiet := *e
	quiet.quiet = true
	return quiet.write(ctx, filepath.Join(dir, "empty"), true, fn)
}

// write opens a database for writing and calls fn with its latest state. Only
// with create does it make a missing file, and says so.
func (e *env) write(ctx context.Context, file string, create bool, fn func(*session) error) (err error) {
	_, missing := os.Stat(file)
	options := e.options(false)
	options.MustExist = !create
	db, err := stardust.Open(file, options)
	if err != nil {
		return openFailure(file, err)
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = about(file, closed)
		}
	}()
	if isMissing(missing) {
		e.notice("created the database %s", file)
	}
	return onFullDisk(file, fn(&session{db, db.Tree().WithContext(ctx)}))
}

func (e *env) options(readOnly bool) *stardust.Options {
	return &stardust.Options{
		Plugins:          stardust.Plugins{Objects: &stardust.ObjectsPlugin{}},
		ReadOnly:         readOnly,
		MustExist:        readOnly,
		LockTimeout:      e.lockTimeout,
		AcceptMissingLog: e.acceptMissingLog,
		Compression:      e.compression,
		Logger:           e.logger(),
		Now:              e.now,
	}
}

// openFailure says what to do about a database that cannot be opened.
func openFailure(file string, err error) error {
	var e *stardust.Error
	if isMissing(err) {
		return fmt.Errorf("%s: no such database; stardust import, put and mkdir make one", file)
	}
	if info, failed := os.Stat(file); failed == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory; the database file comes first on the command line", quote(file))
	}
	if errors.As(err, &e) && e.Code == stardust.CodeReadOnly {
		return fmt.Errorf("%s: cannot be written, nor a file beside it; commands that only read still work", quote(file))
	}
	return err
}

// onFullDisk says which disk is full.
func onFullDisk(place string, err error) error {
	var e *stardust.Error
	if errors.As(err, &e) && e.Code == stardust.CodeNoSpace {
		return about(quote(place), err)
	}
	return err
}

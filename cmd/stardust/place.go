package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

// place is where push, clone and pull find the other database: in a file, or in a
// store.
type place struct {
	text string // as it was given
	file string // of a database, or empty
}

// findPlace tells files from stores: a URL is a store and so is a directory; every
// other path is a file.
func findPlace(text string) (place, error) {
	if !isPlainPath(text) {
		if u, err := url.Parse(text); err == nil && len(u.Scheme) > 1 { // one letter is a drive
			return place{text: text}, nil
		}
	}
	info, err := os.Stat(text)
	switch {
	case err == nil && info.IsDir():
		if !isPlainPath(text) {
			text = "./" + text
		}
		return place{text: text}, nil
	case err != nil && !isMissing(err):
		return place{}, about(quote(text), err)
	}
	return place{text, text}, nil
}

// lasting returns the place in a form that works from every directory.
func (p place) lasting() (string, error) {
	if p.file != "" || isPlainPath(p.text) {
		return filepath.Abs(p.text)
	}
	u, err := url.Parse(p.text)
	if err != nil || u.Scheme != "file" || u.Opaque == "" {
		return redacted(p.text), nil
	}
	name, err := url.PathUnescape(u.Opaque)
	if err != nil {
		return "", usagef("%s is not a URL: %w", p.text, err)
	}
	absolute, err := filepath.Abs(filepath.FromSlash(name))
	last := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: u.RawQuery}
	return last.String(), err
}

// other refuses a place that is the database itself.
func (p place) other(file string) error {
	one, err := os.Stat(file)
	if err != nil || p.file == "" {
		return nil //nolint:nilerr // opening it will say what is wrong
	}
	if two, err := os.Stat(p.file); err == nil && os.SameFile(one, two) {
		return usagef("%s is the database itself", quote(p.text))
	}
	return nil
}

// inStore calls fn with the store.
func (p place) inStore(ctx context.Context, e *env, write bool, fn func(objectstore.Store) error) error {
	return e.withPrefix(ctx, p.text, write, fn)
}

// inFile calls fn with the database in the file, which must exist.
func (p place) inFile(ctx context.Context, e *env, write bool, fn func(*stardust.DB) error) error {
	run := func(s *session) error { return fn(s.db) }
	if !write {
		if _, err := os.Stat(p.file); isMissing(err) {
			return about(quote(p.text), errors.New("there is no such file or directory"))
		}
		return e.read(ctx, p.file, nil, run)
	}
	return e.write(ctx, p.file, false, run)
}

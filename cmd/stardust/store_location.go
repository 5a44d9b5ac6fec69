package main

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

// location is a URL divided into a store's URL and a path in it: of an object,
// or of the prefix that objects share, which may be empty.
type location struct {
	text  string // as it was given
	store string
	path  string
}

// locate divides a URL. The store of s3://bucket/path is the bucket. That of a
// file is the nearest directory at or above it that is a store already, so that
// one store doesn't grow within another; see enclosingStore.
func locate(rawURL string, object bool) (location, error) {
	if isPlainPath(rawURL) {
		return locateFile(rawURL, rawURL, "", object)
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		if bad, ok := errors.AsType[*url.Error](err); ok {
			err = bad.Err // its text repeats the URL, perhaps with a secret
		}
		return location{}, usagef("not a URL: %w", err)
	}
	file := u.Path
	if u.Opaque != "" {
		if file, err = url.PathUnescape(u.Opaque); err != nil {
			return location{}, usagef("%s is not a URL: %w", rawURL, err)
		}
	}
	local := u.Host == "" || u.Host == "localhost"
	switch {
	case u.Scheme == "file" && local && file != "" && u.Fragment == "" && u.User == nil:
		return locateFile(rawURL, file, u.RawQuery, object)
	case u.Opaque != "" || u.Scheme == "" || u.Scheme == "file":
		return location{rawURL, rawURL, "?"}, nil // to open it tells what is wrong
	}
	path := strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawPath = "", ""
	return location{rawURL, u.String(), path}, nil
}

// isPlainPath reports whether a URL is a local path as people write it; those of
// storeurl are taken literally, too.
func isPlainPath(rawURL string) bool {
	if rawURL == "." || rawURL == ".." {
		return true
	}
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(rawURL, start) {
			return true
		}
	}
	return false
}

func locateFile(text, name, query string, object bool) (location, error) {
	absolute, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return location{}, err
	}
	dir := absolute
	if object && !strings.HasSuffix(name, "/") {
		dir = filepath.Dir(absolute)
	}
	root := enclosingStore(dir)
	path, err := filepath.Rel(root, absolute)
	if err != nil {
		return location{}, err
	}
	if path = filepath.ToSlash(path); path == "." {
		path = ""
	}
	if strings.HasSuffix(name, "/") && path != "" {
		path += "/"
	}
	store := url.URL{Scheme: "file", Path: filepath.ToSlash(root), RawQuery: query}
	return location{text, store.String(), path}, nil
}

// enclosingStore returns the nearest directory at or above dir that is a store.
// Without any it is the topmost directory that would have to be made, or dir when
// there is nothing to make.
func enclosingStore(dir string) string {
	topmost := dir
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, file.Folder)); err == nil && info.IsDir() {
			return at
		}
		if _, err := os.Stat(at); isMissing(err) {
			topmost = at
		}
		if at == filepath.Dir(at) {
			return topmost
		}
	}
}

// listed yields what is in a store, except the folders of other stores that
// were made within a local one.
func listed(ctx context.Context, store objectstore.Store) iter.Seq2[objectstore.ObjectMeta, error] {
	local := strings.HasPrefix(store.String(), "file:")
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for meta, err := range store.List(ctx, nil) {
			if err == nil && local && strings.Contains("/"+meta.Path.String(), "/"+file.Folder+"/") {
				continue
			}
			if !yield(meta, err) {
				return
			}
		}
	}
}

// object returns the path of an object. A name completes a location that is a
// directory: it is empty or ends in a slash.
func (l location) object(name string) (objectstore.Path, error) {
	full := l.path
	if name != "" && (full == "" || strings.HasSuffix(full, "/")) {
		full += name
	}
	path, err := objectstore.KeyPath(full)
	if err != nil {
		return "", usagef("%s names no object: %w", redacted(l.text), err)
	}
	return path, nil
}

// prefix returns the location's path as a prefix for a store, without slashes at
// its ends.
func (l location) prefix() (objectstore.Path, error) {
	trimmed := strings.Trim(l.path, "/")
	if trimmed == "" {
		return "", nil
	}
	path, err := objectstore.ParsePath(trimmed)
	if err != nil {
		return "", &usageError{aboutStore(l.text, err)}
	}
	return path, nil
}

// checkDirectory returns an error when the location is a local directory that is
// missing: a listing would show nothing, as if it were empty.
func (l location) checkDirectory() error {
	u, err := url.Parse(l.store)
	if err != nil || u.Scheme != "file" {
		return nil
	}
	info, err := os.Stat(filepath.Join(filepath.FromSlash(u.Path), filepath.FromSlash(l.path)))
	if err == nil && !info.IsDir() {
		err = errNotDirectory
	}
	if isMissing(err) {
		err = errors.New("there is no such directory")
	}
	return aboutStore(l.text, err)
}

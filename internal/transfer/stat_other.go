//go:build !linux

package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// statOf returns what a file system said of a file.
func statOf(info fs.FileInfo) stat {
	return stat{mode: info.Mode(), size: info.Size(), mtime: info.ModTime()}
}

// statIn is not called where readNames returns no directory.
func statIn(*os.File, string) (stat, error) { return stat{}, errors.ErrUnsupported }

// readNames leaves directories to be read by package io/fs.
func readNames(fs.File, int) (dir *os.File, names []string, err error) { return nil, nil, nil }

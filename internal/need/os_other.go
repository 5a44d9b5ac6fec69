//go:build !linux

package need

import "errors"

func mount() (string, error) { return "", errors.New("the test is for Linux") }

func fuse() (string, error) { return "", errors.New("the mount is for Linux") }

func attributes() (string, error) { return "", nil } // macOS has them, and Windows none of the tests

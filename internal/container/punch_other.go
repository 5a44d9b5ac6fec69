//go:build !linux

package container

import "os"

func punchFile(*os.File, int64, int64) (bool, error) { return false, nil }

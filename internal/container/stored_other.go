//go:build !unix

package container

import "io/fs"

func storedBytes(info fs.FileInfo) int64 { return info.Size() }

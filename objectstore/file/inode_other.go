//go:build !unix

package file

import "io/fs"

// inode is zero where files have no numbers: the modification time alone tells
// versions apart.
func inode(fs.FileInfo) uint64 { return 0 }

const openNonblock = 0

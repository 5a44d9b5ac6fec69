//go:build !unix || solaris || aix

package file

import "os"

// On these systems only the writers of one Store exclude each other; create-only
// writes are safe between processes all the same.
func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

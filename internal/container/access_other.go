//go:build !unix

package container

import "os"

func writableDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

func isReadOnlyMedium(error) bool { return false }

func isNoSpace(error) bool { return false }

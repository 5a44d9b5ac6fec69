//go:build !linux && !darwin

package container

import "os"

func writePieces(f *os.File, off int64, pieces [][]byte) error {
	for _, p := range pieces {
		if _, err := f.WriteAt(p, off); err != nil {
			return err
		}
		off += int64(len(p))
	}
	return nil
}

func readPieces(f *os.File, off int64, pieces [][]byte) error {
	for _, p := range pieces {
		if _, err := f.ReadAt(p, off); err != nil {
			return err
		}
		off += int64(len(p))
	}
	return nil
}

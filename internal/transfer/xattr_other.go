//go:build !linux

package transfer

import (
	"errors"
	"os"
)

// maxXattrs is how many bytes the extended attributes of a file have together that
// are kept, names and values.
const maxXattrs = 512 << 10

// readXattrs keeps none here.
func readXattrs(*os.File, func(string) bool) (map[string][]byte, error) { return nil, nil }

// setXattrs sets none here.
func setXattrs(_ *os.File, xattrs map[string][]byte) error {
	if len(xattrs) == 0 {
		return nil
	}
	return errors.New("its extended attributes: this system has none that are known here")
}

package transfer

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// readXattrs returns the extended attributes of an open file that are wanted. The
// error says what of them cannot be kept; what can is returned with it. A file
// system without any is no error.
func readXattrs(file *os.File, want func(name string) bool) (map[string][]byte, error) {
	list, err := readAll(func(to []byte) (int, error) { return unix.Flistxattr(int(file.Fd()), to) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its extended attributes cannot be listed: %w", err)
	}
	names := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	slices.Sort(names)
	found := make(map[string][]byte)
	size := 0
	var errs []error
	for _, name := range names {
		if name == "" || !want(name) {
			continue
		}
		if !utf8.ValidString(name) {
			errs = append(errs, fmt.Errorf("its extended attribute %q is not kept: its name is not UTF-8", name))
			continue
		}
		value, err := readAll(func(to []byte) (int, error) { return unix.Fgetxattr(int(file.Fd()), name, to) })
		if errors.Is(err, unix.ENODATA) {
			continue // gone meanwhile
		}
		if err == nil && size+len(name)+len(value) > maxXattrs {
			err = fmt.Errorf("all of the file have more than %d bytes", maxXattrs)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("its extended attribute %q is not kept: %w", name, err))
			continue
		}
		size += len(name) + len(value)
		found[name] = value
	}
	return found, errors.Join(errs...)
}

// readAll asks for something that tells its size first, and may have grown when it
// is read.
func readAll(read func(to []byte) (int, error)) ([]byte, error) {
	for {
		n, err := read(nil)
		if err != nil || n == 0 {
			return nil, err
		}
		buffer := make([]byte, n)
		n, err = read(buffer)
		if errors.Is(err, unix.ERANGE) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	}
}

// setXattrs gives an open file extended attributes, and leaves alone others that
// it has. The error says which it could not have.
func setXattrs(file *os.File, xattrs map[string][]byte) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(xattrs)) {
		if strings.ContainsRune(name, 0) {
			errs = append(errs, fmt.Errorf("its extended attribute %q: no such name is possible", name))
			continue
		}
		if err := unix.Fsetxattr(int(file.Fd()), name, xattrs[name], 0); err != nil {
			errs = append(errs, fmt.Errorf("its extended attribute %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

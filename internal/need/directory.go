package need

import (
	"errors"
	"os"
	"path/filepath"
)

// inTemp calls a function with a new directory where tests put theirs.
func inTemp(f func(dir string) error) (string, error) {
	dir, err := os.MkdirTemp("", "stardust-need-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left lies in the temporary directory
	return "", f(dir)
}

func caseSensitive() (string, error) {
	return inTemp(func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "\u00e9"), nil, 0o600); err != nil {
			return err
		}
		for _, other := range []string{"\u00c9", "e\u0301"} {
			if _, err := os.Stat(filepath.Join(dir, other)); err == nil {
				return errors.New("the temporary directory takes two spellings for one name")
			}
		}
		return nil
	})
}

func symlinks() (string, error) {
	return inTemp(func(dir string) error { return os.Symlink("target", filepath.Join(dir, "link")) })
}

func ordinary() (string, error) {
	return inTemp(func(dir string) error {
		if err := os.Chmod(dir, 0o500); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err == nil {
			return errors.New("permissions do not bind this user")
		}
		return os.Chmod(dir, 0o700)
	})
}

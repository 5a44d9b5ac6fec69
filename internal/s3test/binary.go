package s3test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// BinaryVariable names the environment variable that holds the path of a
// versitygw binary to use instead of bin/versitygw.
const BinaryVariable = "STARDUST_VERSITYGW"

// binary returns the path of versitygw. The first use builds it into bin/ of the
// module, which takes a minute or two; other processes wait for that.
func binary() (string, error) {
	if name := os.Getenv(BinaryVariable); name != "" {
		return name, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	name := filepath.Join(root, "bin", "versitygw")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	install := exec.Command(filepath.Join(root, "tools", "install-test-deps.sh"))
	if output, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building versitygw (set %s to use another): %w\n%s", BinaryVariable, err, output)
	}
	return name, nil
}

// moduleRoot returns the directory of this module's go.mod. Tests run in the
// directory of their package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module github.com/stardustdb/stardust\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod of Stardust above the working directory")
		}
		dir = parent
	}
}

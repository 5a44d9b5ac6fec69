package need

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// VersitygwVariable names the environment variable that holds the path of a
// versitygw to use instead of bin/versitygw.
const VersitygwVariable = "STARDUST_VERSITYGW"

// flatcVersion is the compiler of the committed code: Debian 12 and 13 have it.
const flatcVersion = "flatc version 2.0.8"

// program finds the first of the names that is installed and tells its version,
// since some distributions install a stub that only tells how to get the rest.
func program(names ...string) func() (string, error) {
	return func() (string, error) {
		for _, name := range names {
			path, err := exec.LookPath(name)
			if err != nil {
				continue
			}
			_, err = output(path, "--version")
			return path, err
		}
		return "", fmt.Errorf("%s is not installed", strings.Join(names, " or "))
	}
}

// output runs a short command. Its error has the first line of what it said.
func output(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		line, _, _ := strings.Cut(text, "\n")
		return "", fmt.Errorf("%s: %w %s", name, err, line)
	}
	return text, nil
}

func node() (string, error) {
	path, err := exec.LookPath("node")
	if err != nil {
		return "", errors.New("node is not installed")
	}
	version, err := output(path, "--version")
	if err != nil {
		return "", err
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		return "", fmt.Errorf("node is %q", version)
	}
	return path, nil
}

// present finds a program without running it: litmus takes a server, and cadaver
// tells its version as a failure.
func present(name string) func() (string, error) {
	return func() (string, error) {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", errors.New(name + " is not installed")
		}
		return path, nil
	}
}

func flatc() (string, error) {
	path, err := exec.LookPath("flatc")
	if err != nil {
		return "", errors.New("flatc is not installed")
	}
	version, err := output(path, "--version")
	if err == nil && version != flatcVersion {
		err = fmt.Errorf("the code is made by %s, and this is %s", flatcVersion, version)
	}
	return path, err
}

// built finds a server in bin/, where make deps puts it.
func built(name string) func() (string, error) {
	return func() (string, error) {
		path := ""
		if name == "versitygw" {
			path = os.Getenv(VersitygwVariable)
		}
		if path == "" {
			root, err := moduleRoot()
			if err != nil {
				return "", err
			}
			path = filepath.Join(root, "bin", name)
		}
		if _, err := os.Stat(path); err != nil {
			return "", errors.New("it is not built")
		}
		return path, nil
	}
}

// module finds a folder that npm installs.
func module(folder string) func() (string, error) {
	return func() (string, error) {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		path := filepath.Join(root, filepath.FromSlash(folder))
		if _, err := os.Stat(filepath.Join(path, "package.json")); err != nil {
			return "", fmt.Errorf("%s is not installed", folder)
		}
		return path, nil
	}
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

// raceDetector builds what the race detector takes from C.
func raceDetector() (string, error) {
	_, err := output("go", "build", "-race", "runtime/cgo")
	return "", err
}

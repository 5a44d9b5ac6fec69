package peertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// startTimeout bounds how long a server may take to answer.
const startTimeout = 60 * time.Second

// attempts bounds how often a server is started again because another process
// took its port between the choice of it and its use.
const attempts = 5

// Start runs a server until the test ends and returns its address once it takes
// connections. command returns its command line for the address to listen at.
func Start(t testing.TB, command func(host, port string) []string) (address string) {
	t.Helper()
	var err error
	for range attempts {
		if address, err = start(t, command); err == nil {
			return address
		}
	}
	t.Fatal(err)
	return ""
}

func start(t testing.TB, command func(host, port string) []string) (string, error) {
	t.Helper()
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	var output bytes.Buffer
	line := command(host, port)
	process := exec.Command(line[0], line[1:]...)
	process.Dir = t.TempDir()
	process.Stdout, process.Stderr = &output, &output
	if err := process.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.Wait() // it is killed: the error says so
	}()
	stop := func() {
		_ = process.Process.Kill()
		<-ended
	}
	if err := waitReady(t.Context(), address, ended); err != nil {
		stop()
		return "", fmt.Errorf("starting %s: %w\n%s", line[0], err, &output)
	}
	t.Cleanup(stop)
	return address, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// waitReady returns once the server takes a connection, or its process ended.
func waitReady(ctx context.Context, address string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ended:
			return errors.New("the process has ended")
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s: %w", address, err)
		case <-ticks.C:
		}
	}
}

// Installed returns the path of a file of the module that `make deps` installs.
// It skips the test when the file is not there.
func Installed(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if path := filepath.Join(dir, filepath.FromSlash(name)); exists(path) {
			return path
		}
		if exists(filepath.Join(dir, "go.mod")) {
			break
		}
	}
	t.Skipf("needs %s: run make deps", name)
	return ""
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

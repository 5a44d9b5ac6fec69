//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"syscall"
)

// bindPrivately makes a socket that no other user may ever open, not even between
// its making and a change of its mode. The command has no other goroutine yet
// that makes files.
func bindPrivately(ctx context.Context, path string) (net.Listener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(path, 0o600)
}

//go:build !unix

package main

import (
	"context"
	"net"
)

func bindPrivately(ctx context.Context, path string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "unix", path)
}

package s3test

import (
	"context"
	"net"
)

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// dialContext dials with a dialer of each call's own.
func dialContext(dialer func() *net.Dialer) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return dialer().DialContext(ctx, network, addr)
	}
}

// redirected dials another address than asked for.
func redirected(to func(addr string) string) dialFunc {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, to(addr))
	}
}

package main

import (
	"context"
	"io"
)

// interruptible returns a reader that ends with ctx even while r waits for a
// keyboard or a pipe. Nothing can end such a read, so its goroutine stays until
// the process ends; use this only where that is at once.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	from, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, r)
		_ = to.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() {
		_ = to.CloseWithError(ctx.Err())
	})
	return from
}

// contextReader ends a long copy between two reads.
func contextReader(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

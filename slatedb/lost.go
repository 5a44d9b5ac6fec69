package slatedb

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// lostSSTs are the SSTs that a manifest references and that could not be
// downloaded, see PolicyOptions.TolerateLostSSTs. The zero value is empty. It may
// be used concurrently.
type lostSSTs struct {
	count atomic.Int64 // of paths: routes look here first

	mu    sync.Mutex
	paths map[objectstore.Path]struct{}
}

func (l *lostSSTs) has(path objectstore.Path) bool {
	if l.count.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, lost := l.paths[path]
	return lost
}

func (l *lostSSTs) add(path objectstore.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = make(map[objectstore.Path]struct{})
	}
	l.paths[path] = struct{}{}
	l.count.Store(int64(len(l.paths)))
}

func (l *lostSSTs) remove(path objectstore.Path) {
	if l.count.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.paths, path)
	l.count.Store(int64(len(l.paths)))
}

// fetch downloads the paths and notes those that the store cannot deliver. It
// retries those known to be lost without waiting for them.
func (l *lostSSTs) fetch(ctx context.Context, handle mirror.Handle, paths []objectstore.Path, logger *slog.Logger) error {
	if l.count.Load() > 0 {
		paths = slices.DeleteFunc(slices.Clone(paths), func(path objectstore.Path) bool {
			if !l.has(path) {
				return false
			}
			handle.Prefetch(path)
			return true
		})
	}
	err := handle.Fetch(paths...).Wait(ctx)
	if err == nil || isOurs(ctx, err) {
		return err
	}
	// Some path failed and the others go on: ask for each by itself.
	missing := slices.DeleteFunc(slices.Clone(paths), handle.Contains)
	fetches := make([]*mirror.Fetch, len(missing))
	for i, path := range missing {
		fetches[i] = handle.Fetch(path)
	}
	var failed error
	for i, fetch := range fetches {
		if failed != nil {
			fetch.Cancel()
			continue
		}
		switch err := fetch.Wait(ctx); {
		case err == nil:
		case isOurs(ctx, err):
			failed = err
		default:
			l.add(missing[i])
			logger.Error("an SST that the manifest references cannot be downloaded; its reads go to the store",
				slog.String("path", string(missing[i])), slog.Any("error", err))
		}
	}
	return failed
}

// isOurs reports whether a download failed for a reason on this side.
func isOurs(ctx context.Context, err error) bool {
	var local *mirror.Local
	return ctx.Err() != nil || errors.As(err, &local) || errors.Is(err, objectstore.ErrClosed)
}

var _ mirror.LocalWatcher = (*Policy)(nil)

// Installed implements mirror.LocalWatcher: the SST is not lost after all.
func (p *Policy) Installed(path objectstore.Path, _ int64, _ mirror.Handle) { p.lost.remove(path) }

// Removed implements mirror.LocalWatcher.
func (p *Policy) Removed(objectstore.Path) {}

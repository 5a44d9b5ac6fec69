package simtest

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// manifestPath is the one object that is overwritten: it lists paths to keep,
// as SlateDB's manifest does.
const manifestPath objectstore.Path = "man/current"

var errRefused = errors.New("the policy refuses")

// refuse is an extension that has the policy refuse a call.
type refuse struct{}

// policy routes calls as their extensions say, keeps what the manifest names,
// and notes which copies it was told of.
type policy struct {
	s *simulation
	l *life

	mu    sync.Mutex
	local map[objectstore.Path]int64
	kept  map[objectstore.Path]bool
}

func newPolicy(s *simulation, l *life) *policy {
	return &policy{s: s, l: l, local: map[objectstore.Path]int64{}, kept: map[objectstore.Path]bool{}}
}

// routeOf returns the route in a call's extensions; without one the call goes
// to the remote only.
func routeOf[R any](extensions objectstore.Extensions) (R, error) {
	route, _ := objectstore.ExtensionOf[R](extensions)
	if _, ok := objectstore.ExtensionOf[refuse](extensions); ok {
		return route, errRefused
	}
	return route, nil
}

// ReadRoute implements mirror.Policy.
func (*policy) ReadRoute(_ objectstore.Path, options *objectstore.GetOptions) (mirror.ReadRoute, error) {
	return routeOf[mirror.ReadRoute](options.Extensions)
}

// PutRoute implements mirror.Policy.
func (*policy) PutRoute(_ objectstore.Path, options *objectstore.PutOptions) (mirror.WriteRoute, error) {
	return routeOf[mirror.WriteRoute](options.Extensions)
}

// MultipartRoute implements mirror.Policy.
func (*policy) MultipartRoute(_ objectstore.Path, options *objectstore.MultipartOptions) (mirror.MultipartRoute, error) {
	return routeOf[mirror.MultipartRoute](options.Extensions)
}

// Observe implements mirror.Policy: it evicts what the manifest names no more,
// and returns once what it names is local.
func (p *policy) Observe(ctx context.Context, path objectstore.Path, data []byte, mirror mirror.Handle) error {
	if path != manifestPath {
		return nil
	}
	names, whole := parseManifest(data)
	if !whole {
		p.s.failf("Observe was shown %q, which is no manifest", data)
		return errRefused
	}
	p.mu.Lock()
	var surplus []objectstore.Path
	for _, name := range sortedPaths(p.kept) {
		if !names[name] {
			surplus = append(surplus, name)
		}
	}
	p.kept = names
	p.mu.Unlock()
	p.s.evict(mirror, surplus)
	return p.s.fetch(ctx, p.l, mirror, sortedPaths(names), nil)
}

// Run implements mirror.Policy: it prefetches what the manifest names.
func (p *policy) Run(ctx context.Context, mirror mirror.Handle) error {
	for (clock{&p.s.sched, p.l}).Sleep(ctx, 20*time.Second) == nil {
		data, err := mirror.GetRemote(ctx, manifestPath)
		if err != nil {
			continue
		}
		names, whole := parseManifest(data)
		if !whole {
			p.s.failf("GetRemote returned %q, which is no manifest", data)
		}
		p.s.prefetch(mirror, sortedPaths(names))
	}
	return ctx.Err()
}

// Installed implements mirror.LocalWatcher.
func (p *policy) Installed(path objectstore.Path, size int64, _ mirror.Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.local[path] = size
}

// Removed implements mirror.LocalWatcher.
func (p *policy) Removed(path objectstore.Path) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.local, path)
}

func (p *policy) watched() map[objectstore.Path]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.local)
}

const manifestEnd = "end"

func formatManifest(names []objectstore.Path) []byte {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(string(name) + "\n")
	}
	b.WriteString(manifestEnd)
	return []byte(b.String())
}

// parseManifest returns the paths in a manifest, and whether it is whole.
func parseManifest(data []byte) (map[objectstore.Path]bool, bool) {
	lines := strings.Split(string(data), "\n")
	names := map[objectstore.Path]bool{}
	for _, line := range lines[:len(lines)-1] {
		names[objectstore.Path(line)] = true
	}
	return names, lines[len(lines)-1] == manifestEnd
}

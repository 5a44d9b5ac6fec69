package watch

import (
	"slices"
	"time"
)

// Batch is what changed together.
type Batch struct {
	// All says that anything may have changed; there are no paths then.
	All bool
	// Paths are what changed, or may have, in the order of their bytes: names
	// divided by "/", from the directory that is watched.
	Paths []string
}

// maxPaths is how many paths a batch has; beyond it is everything.
const maxPaths = 64 << 10

// pending gathers a batch.
type pending struct {
	all   bool
	paths map[string]bool
	// first and last are when the oldest and the newest change was seen.
	first, last time.Time
}

func (p *pending) empty() bool { return !p.all && len(p.paths) == 0 }

// add notes a change at a path.
func (p *pending) add(path string, now time.Time) {
	p.seen(now)
	if p.all {
		return
	}
	if p.paths == nil {
		p.paths = make(map[string]bool)
	}
	if p.paths[path] = true; len(p.paths) > maxPaths {
		p.addAll(now)
	}
}

// addAll notes that anything may have changed.
func (p *pending) addAll(now time.Time) {
	p.seen(now)
	p.all, p.paths = true, nil
}

func (p *pending) seen(now time.Time) {
	if p.empty() {
		p.first = now
	}
	p.last = now
}

// due returns when the batch is complete.
func (p *pending) due(quiet, most time.Duration) time.Time {
	calm, late := p.last.Add(quiet), p.first.Add(most)
	if late.Before(calm) {
		return late
	}
	return calm
}

// take returns the batch and begins the next one.
func (p *pending) take() Batch {
	b := Batch{All: p.all}
	for path := range p.paths {
		b.Paths = append(b.Paths, path)
	}
	slices.Sort(b.Paths)
	*p = pending{}
	return b
}

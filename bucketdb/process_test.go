package bucketdb

import (
	"context"
	"errors"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// process is a push or pull under way.
type process struct {
	id     int
	kind   string
	of     *member // nil for one that has no replica
	dead   chan struct{}
	cancel context.CancelFunc

	// The world's mutex guards these.
	killed   bool
	doubtful bool // a PUT to the log, or a look at it, did not go well
	done     bool
	err      error

	began  replica.Position // the replica's
	length int              // of the log, when it began
	calm   bool             // no fault was made while it ran
}

// member is one of those who have a replica.
type member struct {
	db     *memoryDB
	saved  *memoryDB // a copy of some time ago, or nil
	skew   time.Duration
	worker *process
}

// start runs a function as a process, whose calls wait at gates.
func (w *world) start(kind string, m *member, run func(context.Context, objectstore.Store, *process) error) {
	ctx, cancel := context.WithCancel(context.Background())
	w.last++
	p := &process{id: w.last, kind: kind, of: m, dead: make(chan struct{}), cancel: cancel, length: len(w.oracle.bytes), calm: w.quiet}
	if m != nil {
		m.worker, p.began = p, m.db.at
		m.db.gate = func(ctx context.Context, what string) error { _, err := w.gate(ctx, p, what); return err }
	}
	w.processes = append(w.processes, p)
	w.tell("%d: %s", p.id, kind)
	go func() {
		err := run(ctx, &gated{w.inner, w, p}, p)
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		p.done, p.err = true, err
	}()
}

func (w *world) push(m *member) {
	o := &PushOptions{
		Workers: 1 + w.draw(2), batchChunks: 1 + w.draw(6), packSize: 1 + w.draw(600), random: w.names, sizes: []int64{3, 9}, Problem: w.problem,
		Now: func() time.Time { return w.now.Add(m.skew) },
	}
	w.start("push", m, func(ctx context.Context, store objectstore.Store, _ *process) error {
		p := &pusher{db: m.db, options: o.normal(), report: new(Report)}
		return p.run(ctx, store)
	})
}

func (w *world) pull(m *member) {
	o := &PullOptions{Workers: 1 + w.draw(3), sizes: []int64{3, 9}, Problem: w.problem}
	if !w.quiet && w.draw(4) == 0 {
		o.At = m.db.at.Transaction + int64(w.draw(6))
	}
	kind := "pull"
	if o.At != 0 {
		kind = "pull at"
	}
	w.start(kind, m, func(ctx context.Context, store objectstore.Store, _ *process) error {
		p := &puller{db: m.db, options: o.normal(), report: new(Report), cloning: !m.db.cloned}
		return p.run(ctx, store)
	})
}

// collect starts a GC, by somebody who has no replica.
func (w *world) collect() {
	o := &GCOptions{
		Grace: time.Duration(w.draw(48)-12) * time.Hour, Workers: 1 + w.draw(3), DryRun: !w.quiet && w.draw(8) == 0,
		sizes: []int64{3, 9}, random: w.names, Problem: w.problem, Now: func() time.Time { return w.now },
	}
	if o.Grace == 0 || w.quiet {
		o.Grace = -1
	}
	w.start("gc", nil, func(ctx context.Context, store objectstore.Store, _ *process) error {
		report, err := GC(ctx, store, o)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.collected += int(report.Packs)
		return err
	})
}

// problem takes note of what a process did without.
func (w *world) problem(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, ErrDamaged) {
		w.violation = "bundle: " + err.Error()
	}
}

func (w *world) kill(p *process) {
	w.tell("%d: killed", p.id)
	w.mu.Lock()
	defer w.mu.Unlock()
	p.killed = true
	p.cancel()
	close(p.dead)
}

// reap takes note of the processes that have ended, and holds them to what they said.
func (w *world) reap() {
	left := w.processes[:0]
	for _, p := range w.processes {
		if !p.done {
			left = append(left, p)
			continue
		}
		w.tell("%d: %s ended: %v", p.id, p.kind, p.err)
		if p.of != nil {
			p.of.worker, p.of.db.gate = nil, nil
		}
		if !p.killed {
			w.judge(p)
		}
	}
	w.processes = left
}

// judge holds a process to what it said.
func (w *world) judge(p *process) {
	err, all := p.err, w.oracle.db
	var db *memoryDB
	if p.of != nil {
		db = p.of.db
	}
	switch {
	case err == nil && p.kind == "push":
		// What the replica had when the push began is in the log.
		if !reaches(all.at, p.began) || !w.agree(p.of.db, p.began) {
			w.fail("acknowledged: a push of %+v succeeded, and the log is at %+v, or has something else", p.began, all.at)
		}
		w.acknowledged++
	case err == nil && (p.kind == "pull" || p.kind == "pull at"):
		for i, end := range w.oracle.ends[:p.length] {
			if p.kind == "pull" && !reaches(db.at, end) || reaches(db.at, end) && !w.agree(db, end) {
				w.fail("equal: after a pull the replica is at %+v, and batch %d at %+v", db.at, i+1, end)
			}
		}
	case err == nil:
	case errors.Is(err, ErrDiverged):
		if db.has(all) || all.has(db) {
			w.fail("told: a %s said that two have diverged which have not: %v", p.kind, err)
		}
		p.of.db = w.empty() // as its owner would, some time or other
	case errors.Is(err, ErrBehind):
		if db.has(all) {
			w.fail("told: a %s was told to pull, and there is nothing: %v", p.kind, err)
		}
	case errors.Is(err, ErrUnknown):
		if !p.doubtful {
			w.fail("told: a %s does not know what it could: %v", p.kind, err)
		}
		w.unknown++
	case errors.Is(err, stardust.StatusNotFound), errors.Is(err, stardust.StatusConflict):
		// a revision that is not there, or that lies behind
	case errors.Is(err, errCut), errors.Is(err, context.DeadlineExceeded):
		if p.calm {
			w.fail("a %s failed for no reason: %v", p.kind, err)
		}
	default:
		w.fail("%s: %v", p.kind, err)
	}
	// Nothing of a push that failed may come later.
	if p.kind == "push" && p.err != nil && !errors.Is(p.err, ErrUnknown) {
		w.failed[p] = true
	}
}

// agree reports whether a replica has the rows at a position that the log has.
func (w *world) agree(db *memoryDB, at replica.Position) bool {
	a, b, c, _ := db.At(context.Background(), at)
	d, e, f, _ := w.oracle.db.At(context.Background(), at)
	return string(a) == string(d) && b == e && c == f
}

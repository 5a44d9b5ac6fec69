package watch

import (
	"context"
	"errors"
	"time"
)

// Options are what is watched, and how batches are made.
type Options struct {
	// Dir is the directory.
	Dir string
	// Skip, when not nil, tells of a path whether it does not matter; directories
	// that do not are not watched. It is called by one goroutine at a time.
	Skip func(path string, directory bool) bool
	// Quiet is how long nothing may have changed before a batch is complete, and
	// Most how long its oldest change waits at most.
	Quiet, Most time.Duration
	// Retry is how long a batch waits that was refused with ErrLater.
	Retry time.Duration
	// Now is the clock.
	Now func() time.Time
}

// ErrLater says that a batch was not handled and is to come again.
var ErrLater = errors.New("the batch is to come again")

// Func handles a batch. It returns paths that are to come again with a later one.
type Func func(ctx context.Context, b Batch) (again []string, err error)

// Run watches a directory until ctx ends, and calls handle for batches, one call
// at a time: at first for everything, once it is watched. When ctx ends, the batch
// under way is finished, what has changed until then is one more, and Run returns
// nil; handle gets a context that does not end, but for batches of everything,
// which may take long.
//
// It returns a [*LimitError] when the system watches no more directories, the
// first error of handle, of ErrLater only when ctx ends with it, and an error when
// the directory itself is gone.
func Run(ctx context.Context, o Options, handle Func) error {
	t, err := newTree(o.Dir, o.Skip)
	if err != nil {
		return err
	}
	defer t.close()
	l := &loop{options: o, tree: t, handle: handle}
	return l.run(ctx)
}

// watched is what a loop needs of a tree.
type watched interface {
	// changes yields paths as they change.
	changes() <-chan change
	// note takes a change into account, and returns whether it matters.
	note(c change) (matters bool, err error)
	// renew watches everything anew.
	renew() error
	// mark has a change come that is a mark, after all that happened so far. It
	// returns false where it cannot.
	mark() bool
}

// change is something that happened at a path, or, when lost is set, that anything
// may have happened. An err ends the watch.
type change struct {
	path string
	kind kind
	lost bool
	mark bool
	err  error
}

// kind is what happened.
type kind int

const (
	changed kind = iota // or nothing known
	appeared
	left // moved away
	ended
)

// loop makes batches of changes.
type loop struct {
	options Options
	tree    watched
	handle  Func

	next  pending
	stale bool // not everything is watched: renew first
	busy  bool // handle runs
	wait  time.Time
	done  chan outcome
}

// outcome is what became of a batch.
type outcome struct {
	batch Batch
	again []string
	err   error
}

func (l *loop) run(ctx context.Context) error {
	l.done = make(chan outcome, 1)
	l.next.addAll(l.options.Now())
	l.wait = l.options.Now() // at once
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var fire <-chan time.Time
		if !l.busy && !l.next.empty() {
			timer.Reset(l.due().Sub(l.options.Now()))
			fire = timer.C
		}
		select {
		case c := <-l.tree.changes():
			if err := l.note(c); err != nil {
				return errors.Join(err, l.settle())
			}
		case <-fire:
			if err := l.begin(ctx); err != nil {
				return err
			}
		case o := <-l.done:
			if err := l.ended(o); err != nil {
				return err
			}
		case <-ctx.Done():
			return l.finish(ctx)
		}
	}
}

// due returns when the next batch is complete.
func (l *loop) due() time.Time {
	if !l.wait.IsZero() {
		return l.wait
	}
	return l.next.due(l.options.Quiet, l.options.Most)
}

// note takes a change into account.
func (l *loop) note(c change) error {
	if c.err != nil {
		return c.err
	}
	var matters bool
	var err error
	if !c.lost {
		matters, err = l.tree.note(c)
	}
	if c.lost || errors.Is(err, errStale) {
		l.stale = true
		l.next.addAll(l.options.Now())
		return nil
	}
	if matters {
		l.next.add(c.path, l.options.Now())
	}
	return err
}

// begin hands a batch over.
func (l *loop) begin(ctx context.Context) error {
	if l.stale {
		if err := l.tree.renew(); err != nil {
			return err
		}
		l.stale = false
	}
	b := l.next.take()
	l.busy, l.wait = true, time.Time{}
	if !b.All {
		ctx = context.WithoutCancel(ctx)
	}
	go func() { // ended waits for it
		again, err := l.handle(ctx, b)
		l.done <- outcome{b, again, err}
	}()
	return nil
}

// ended takes what became of a batch.
func (l *loop) ended(o outcome) error {
	l.busy = false
	now := l.options.Now()
	if errors.Is(o.err, ErrLater) {
		if o.batch.All {
			l.next.addAll(now)
		}
		for _, path := range o.batch.Paths {
			l.next.add(path, now)
		}
		l.wait = now.Add(l.options.Retry)
		return nil
	}
	for _, path := range o.again {
		l.next.add(path, now)
	}
	return o.err
}

// settle waits for the batch under way.
func (l *loop) settle() error {
	if !l.busy {
		return nil
	}
	return l.ended(<-l.done)
}

// markWait is how long a mark is waited for, which is on its way.
const markWait = 5 * time.Second

// drain takes the changes that happened so far. Some may be on their way still: a mark
// says that none are.
func (l *loop) drain() error {
	marked := l.tree.mark()
	late := time.NewTimer(markWait)
	defer late.Stop()
	for !l.next.all {
		var c change
		if marked {
			select {
			case c = <-l.tree.changes():
			case <-late.C:
				return nil
			}
		} else {
			select {
			case c = <-l.tree.changes():
			default:
				return nil
			}
		}
		if c.mark {
			return nil
		}
		if err := l.note(c); err != nil {
			return err
		}
	}
	return nil
}

// finish handles what there is when the caller ends it.
func (l *loop) finish(ctx context.Context) error {
	err := l.settle()
	if err == nil {
		err = l.drain()
	}
	if err != nil || l.next.empty() || l.next.all {
		return err // the next watch begins with everything
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	if err := l.settle(); err != nil {
		return err
	}
	if !l.wait.IsZero() {
		return ErrLater
	}
	return nil // what is to come again comes with everything
}

package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// paths are changes that a test makes, in place of a directory's.
type paths struct {
	out     chan change
	renewed int
	moved   string // a directory that moves
	release chan bool
}

func (p *paths) changes() <-chan change { return p.out }

func (p *paths) note(c change) (bool, error) {
	if c.path == p.moved {
		return false, errStale
	}
	return c.path != "skipped", nil
}

func (p *paths) renew() error { p.renewed++; return nil }

func (p *paths) mark() bool { return false }

// handled is a batch that came, and when.
type handled struct {
	Batch
	at time.Duration
}

// looped runs a loop with a test's changes in a bubble of time. Handle may be nil.
func looped(t *testing.T, test func(p *paths, batches <-chan handled, end func() error), handle func(context.Context, *paths, Batch) ([]string, error)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := &paths{out: make(chan change), moved: "moved", release: make(chan bool)}
		batches := make(chan handled, 100)
		l := &loop{
			options: Options{Quiet: time.Second, Most: 10 * time.Second, Retry: 5 * time.Second, Now: time.Now}, tree: p,
			handle: func(ctx context.Context, b Batch) ([]string, error) {
				batches <- handled{b, time.Since(began)}
				if handle == nil {
					return nil, nil
				}
				return handle(ctx, p, b)
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- l.run(ctx) }()
		if first := <-batches; !first.All || first.at != 0 {
			t.Errorf("the first batch is %+v", first)
		}
		test(p, batches, func() error {
			cancel()
			return <-result
		})
		cancel()
	})
}

func expect(t *testing.T, batches <-chan handled, at time.Duration, paths ...string) {
	t.Helper()
	if b := <-batches; b.All || !slices.Equal(b.Paths, paths) || b.at != at {
		t.Errorf("a batch is %+v, want %v at %v", b, paths, at)
	}
}

func TestChangesThatFollowEachOtherAreOneBatch(t *testing.T) {
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		for _, path := range []string{"b", "a", "b", "skipped"} {
			p.out <- change{path: path}
			<-time.After(900 * time.Millisecond)
		}
		expect(t, batches, 2800*time.Millisecond, "a", "b")
		if err := end(); err != nil {
			t.Error(err)
		}
	}, nil)
}

func TestABatchComesThoughChangesDoNotEnd(t *testing.T) {
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		for range 25 {
			p.out <- change{path: "log"}
			<-time.After(500 * time.Millisecond)
		}
		expect(t, batches, 10*time.Second, "log")
		expect(t, batches, 13*time.Second, "log")
		_ = end()
	}, nil)
}

func TestChangesDuringABatchAreTheNextOne(t *testing.T) {
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		p.release <- true // the first
		p.out <- change{path: "a"}
		expect(t, batches, time.Second, "a")
		p.out <- change{path: "b"}
		p.out <- change{path: "c"}
		<-time.After(time.Minute)
		if len(batches) > 0 {
			t.Error("two batches at a time")
		}
		p.release <- true
		expect(t, batches, time.Minute+time.Second, "b", "c")
		p.release <- true
		_ = end()
	}, func(_ context.Context, p *paths, _ Batch) ([]string, error) { <-p.release; return nil, nil })
}

func TestWhatIsLostMeansEverythingWatchedAnew(t *testing.T) {
	for _, c := range []change{{lost: true}, {path: "moved"}} {
		looped(t, func(p *paths, batches <-chan handled, end func() error) {
			p.out <- change{path: "a"}
			p.out <- c
			p.out <- change{path: "b"}
			if b := <-batches; !b.All || b.at != time.Second || p.renewed != 1 {
				t.Errorf("%+v: the batch is %+v, %d times renewed", c, b, p.renewed)
			}
			_ = end()
		}, nil)
	}
}

func TestABatchThatIsRefusedComesAgain(t *testing.T) {
	tries := 0
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		p.out <- change{path: "a"}
		expect(t, batches, time.Second, "a")
		<-time.After(time.Second)
		p.out <- change{path: "b"}
		expect(t, batches, 6*time.Second, "a", "b")
		expect(t, batches, 7*time.Second, "still")
		if err := end(); err != nil {
			t.Error(err)
		}
	}, func(context.Context, *paths, Batch) ([]string, error) {
		switch tries++; tries {
		case 2:
			return nil, fmt.Errorf("in use: %w", ErrLater)
		case 3:
			return []string{"still"}, nil
		}
		return nil, nil
	})
}

func TestTheEndFinishesTheBatchAndWhatCameBefore(t *testing.T) {
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		p.out <- change{path: "a"}
		expect(t, batches, time.Second, "a")
		p.out <- change{path: "b"}
		if err := end(); err != nil {
			t.Error(err)
		}
		expect(t, batches, 2*time.Second, "b")
	}, func(ctx context.Context, _ *paths, b Batch) ([]string, error) {
		if !b.All {
			<-time.After(time.Second)
		}
		if !b.All && ctx.Err() != nil {
			t.Errorf("%v is not finished: %v", b, ctx.Err())
		}
		return nil, nil
	})
}

func TestErrorsEndTheWatch(t *testing.T) {
	broken := errors.New("broken")
	looped(t, func(p *paths, batches <-chan handled, end func() error) {
		p.out <- change{path: "a"}
		expect(t, batches, time.Second, "a")
		if err := end(); !errors.Is(err, broken) {
			t.Error(err)
		}
	}, func(_ context.Context, _ *paths, b Batch) ([]string, error) {
		if b.All {
			return nil, nil
		}
		return nil, broken
	})
	looped(t, func(p *paths, _ <-chan handled, end func() error) {
		p.out <- change{err: errGone}
		if err := end(); !errors.Is(err, errGone) {
			t.Error(err)
		}
	}, nil)
}

func TestManyPathsAreEverything(t *testing.T) {
	var p pending
	for i := range maxPaths + 1 {
		p.add(fmt.Sprint(i), time.Time{})
	}
	if b := p.take(); !b.All || b.Paths != nil {
		t.Errorf("all %v, %d paths", b.All, len(b.Paths))
	}
}

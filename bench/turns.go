package main

import (
	"context"
	"slices"
	"time"
)

// step is a piece of work that is measured, and what must be done before and
// after it, which is not.
type step struct {
	before, work, after func() error
}

func (s step) run() (seconds float64, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	err = s.work()
	seconds = time.Since(start).Seconds()
	if s.after != nil {
		if gone := s.after(); err == nil {
			err = gone
		}
	}
	return seconds, err
}

// turns has steps take turns, so that a busy machine disturbs all of them alike,
// and returns the seconds that each took, by step and round. Every second round
// runs backwards, so that none is always the one that comes after the same other.
func turns(ctx context.Context, rounds int, steps ...step) ([][]float64, error) {
	all := make([][]float64, len(steps))
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			seconds, err := steps[i].run()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], seconds)
		}
		slices.Reverse(order)
	}
	return all, nil
}

// ratios divides the values of two steps round by round.
func ratios(of, by []float64) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = of[i] / by[i]
	}
	return out
}

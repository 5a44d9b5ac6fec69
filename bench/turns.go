package main

import (
	"context"
	"slices"
)

// step is a piece of work that is measured, and what must be done before and
// after it, which is not.
type step struct {
	before, work, after func() error
}

func (s step) run() (took cost, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return cost{}, err
		}
	}
	took, err = timed(s.work)
	if s.after != nil {
		if gone := s.after(); err == nil {
			err = gone
		}
	}
	return took, err
}

// series is what a step took in each round, in seconds; CPU time is the whole
// process's.
type series struct {
	wall, cpu []float64
}

// turns has steps take turns, so that a busy machine disturbs all of them alike,
// and returns what each took. Every second round
// runs backwards, so that none is always the one that comes after the same other.
func turns(ctx context.Context, rounds int, steps ...step) ([]series, error) {
	all := make([]series, len(steps))
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for _, i := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			took, err := steps[i].run()
			if err != nil {
				return nil, err
			}
			all[i].wall = append(all[i].wall, took.wall.Seconds())
			all[i].cpu = append(all[i].cpu, took.cpu.Seconds())
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

package simtest

import (
	"math/rand/v2"
	"time"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// Options say what to simulate.
type Options struct {
	// Seed decides everything.
	Seed uint64
	// Operations bounds what the clients do: a run with fewer is the
	// beginning of one with more. Zero means as many as the seed says.
	Operations int
	// Hang is how long a run may take in real time before the process ends
	// with the stacks of all goroutines, since goroutines that wait for a
	// mutex can't be stopped. Zero means a minute.
	Hang time.Duration
}

// Result is what a simulation did.
type Result struct {
	Seed uint64
	// Failure names the property that did not hold; empty when all did.
	Failure string
	// Trace has a line for everything that happened, in order.
	Trace []string
	// Operations of clients, Steps of the scheduler, Crashes and Restarts.
	Operations, Steps, Crashes, Restarts int
	// Faults that were injected.
	Faults int
}

// config is what a seed chooses before the first step.
type config struct {
	clients, rounds, operations int
	paths                       int  // that are known at first
	big                         bool // an object that is downloaded in several ranges
	verify                      bool
	scan                        time.Duration // 0: clients scan
	index                       time.Duration
	concurrency, maxIdle        int
	maxRetries                  objectstore.Retries
	uniform                     int // percent of choices without priorities
	fresh                       int // one path in so many is a new one
	weights                     [opKinds]int

	// Rates of faults and events, in thousandths of their occasions.
	remoteFaults, localFaults int
	cancels, others           int
	crashes, closes           int
	fullDisks, rots, vanishes int
	flaky                     bool // every other body of a download is cut
}

func drawConfig(random *rand.Rand) config {
	oneOf := func(values ...int) int { return values[random.IntN(len(values))] }
	c := config{
		clients:     oneOf(1, 2, 3, 3, 4, 5),
		rounds:      oneOf(1, 1, 2, 3),
		operations:  oneOf(10, 20, 30, 40),
		paths:       oneOf(1, 2, 4, 8),
		verify:      random.IntN(2) == 0,
		index:       time.Duration(oneOf(5, 60, 300)) * time.Second,
		concurrency: oneOf(1, 1, 2, 8),
		maxIdle:     oneOf(mirror.NoIdleFiles, 1, 16),
		maxRetries:  objectstore.Retries(oneOf(0, int(objectstore.RetryForever), int(objectstore.NoRetries), 2)),
		uniform:     oneOf(10, 50, 100),

		fresh: oneOf(4, 10, 50),

		remoteFaults: oneOf(0, 10, 60),
		localFaults:  oneOf(0, 0, 0, 5, 40),
		cancels:      oneOf(0, 10, 30),
		others:       oneOf(0, 5, 20),
		crashes:      oneOf(0, 0, 2, 6),
		closes:       oneOf(0, 0, 2),
		fullDisks:    oneOf(0, 0, 0, 5),
	}
	if random.IntN(2) == 0 {
		c.scan = time.Duration(oneOf(1, 10, 600)) * time.Second
	}
	c.rots, c.vanishes = oneOf(0, 0, 0, 10), oneOf(0, 0, 0, 5)
	c.flaky = random.IntN(6) == 0
	// Each seed does some things often and others never, so that rare
	// combinations come up.
	for kind, weight := range opWeights {
		c.weights[kind] = weight * oneOf(0, 1, 1, 1, 4)
	}
	c.weights[opGet] = max(c.weights[opGet], 1)
	if random.IntN(80) == 0 {
		c.big, c.rounds, c.operations = true, 1, 10
		c.weights[opFetch] = 4 * opWeights[opFetch]
	}
	return c
}

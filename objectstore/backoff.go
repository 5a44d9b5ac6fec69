package objectstore

import (
	"math"
	"time"
)

// Backoff says how long to wait between repetitions: a random time between
// nothing and a bound that grows from Init by Factor up to Max ("full
// jitter"). The zero value has the defaults of Rust's object_store: 100 ms,
// 15 s, factor 2.
type Backoff struct {
	// Init is the bound before the first repetition; 0 means 100 ms.
	Init time.Duration
	// Max is the greatest bound; 0 means 15 s.
	Max time.Duration
	// Factor is what the bound grows by each time; 0 means 2. Under 1 it is 1.
	Factor float64
}

// Bound returns the longest wait before repetition n, counted from 0.
func (b Backoff) Bound(n int) time.Duration {
	if b.Init <= 0 {
		b.Init = 100 * time.Millisecond
	}
	if b.Max <= 0 {
		b.Max = 15 * time.Second
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
	bound := float64(b.Init) * math.Pow(max(1, b.Factor), float64(max(0, n)))
	// The comparison is false for NaN too, and holds before a conversion that
	// would overflow.
	if bound < float64(b.Max) {
		return time.Duration(bound)
	}
	return b.Max
}

// Delay returns the wait before repetition n, counted from 0. random is from
// [0, 1): the caller draws it, so that a simulation can decide it.
func (b Backoff) Delay(n int, random float64) time.Duration {
	return time.Duration(min(max(0, random), 1) * float64(b.Bound(n)))
}

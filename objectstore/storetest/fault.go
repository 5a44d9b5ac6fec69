package storetest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stardustdb/stardust/objectstore"
)

// ErrInjected is the cause of every error that a [Seeded] script makes. It is
// transient.
var ErrInjected = errors.New("injected fault")

// Fault is what [Faulty] does to one call. The zero value does nothing.
type Fault struct {
	// Delay is how long the call waits first.
	Delay time.Duration
	// Before fails the call without any effect.
	Before error
	// After fails the call once it has succeeded: the write happened, the
	// answer was lost.
	After error
	// Cut ends the body of a Get with io.ErrUnexpectedEOF after CutAt bytes.
	Cut   bool
	CutAt int64
	// Short ends the body of a Get with a plain io.EOF after CutAt bytes, although
	// its length promises more: a store that lies.
	Short bool
	// Flip inverts the byte FlipAt of the body of a Get, when it has one.
	Flip   bool
	FlipAt int64
	// CutSend ends a sent body with an error after CutAt bytes, so that the inner
	// store sees a client that goes away.
	CutSend bool
}

// A Script decides what happens to a call. op is one of the objectstore.Op
// constants; path is the object's, or the prefix of a list. It must be safe for
// concurrent use.
type Script func(op string, path objectstore.Path) Fault

// Rates are the probabilities, from 0 to 1, of the faults of a [Seeded] script.
type Rates struct {
	Before  float64 // a transient error instead of the call
	After   float64 // a transient error after a write that happened
	Cut     float64 // a body cut short
	Flip    float64 // a byte inverted in a body
	Delay   float64 // a wait of up to MaxDelay
	CutSend float64 // a sent body that ends early
	// MaxDelay bounds the waits; zero means 100 ms.
	MaxDelay time.Duration
	// MaxBody bounds where bodies are cut or altered; zero means 64 KiB.
	MaxBody int64
}

// Seeded is a Script of random faults. What happens to the n-th call of an
// operation on a path depends on the seed, the operation, the path and n alone,
// not on how goroutines interleave.
func Seeded(seed uint64, rates Rates) Script {
	if rates.MaxDelay <= 0 {
		rates.MaxDelay = 100 * time.Millisecond
	}
	if rates.MaxBody <= 0 {
		rates.MaxBody = 64 << 10
	}
	type key struct {
		op   string
		path objectstore.Path
	}
	var mu sync.Mutex
	calls := map[key]uint64{}
	return func(op string, path objectstore.Path) Fault {
		mu.Lock()
		n := calls[key{op, path}]
		calls[key{op, path}] = n + 1
		mu.Unlock()

		hash := fnv.New64a()
		fmt.Fprintf(hash, "%s\x00%s\x00%d", op, path, n)
		random := rand.New(rand.NewPCG(seed, hash.Sum64()))
		// Every draw is made whatever the others say, so that changing one
		// rate leaves the other faults where they were.
		hit := func(rate float64) bool { return random.Float64() < rate }
		fault := Fault{CutAt: random.Int64N(rates.MaxBody), FlipAt: random.Int64N(rates.MaxBody)}
		before, after := hit(rates.Before), hit(rates.After)
		fault.Cut, fault.Flip, fault.CutSend = hit(rates.Cut), hit(rates.Flip), hit(rates.CutSend)
		if wait := time.Duration(random.Int64N(int64(rates.MaxDelay))); hit(rates.Delay) {
			fault.Delay = wait
		}
		switch {
		case before:
			fault.Before = objectstore.Transient(fmt.Errorf("%w before %s", ErrInjected, op), 0)
		case after && changes(op):
			fault.After = objectstore.Transient(fmt.Errorf("%w: the answer to %s was lost", ErrInjected, op), 0)
		}
		return fault
	}
}

// changes reports whether an operation changes the store.
func changes(op string) bool {
	switch op {
	case objectstore.OpPut, objectstore.OpDelete, objectstore.OpDeleteAll, objectstore.OpCopy, objectstore.OpRename,
		objectstore.OpCreateMultipart, objectstore.OpUploadPart, objectstore.OpCompleteMultipart, objectstore.OpAbortMultipart:
		return true
	default:
		return false
	}
}

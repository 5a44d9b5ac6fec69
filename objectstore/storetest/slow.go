package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
)

// Slow returns a store whose calls wait so long before they reach inner, and a
// function that returns how many of them waited at once at most.
func Slow(inner objectstore.Store, wait time.Duration) (slow objectstore.Store, most func() int) {
	var mu sync.Mutex
	running, highest := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		highest = max(highest, running)
	}
	slow = Faulty(inner, FaultyOptions{
		Script: func(string, objectstore.Path) Fault { return Fault{Delay: wait} },
		Sleep: func(ctx context.Context, d time.Duration) error {
			count(1)
			defer count(-1)
			return clock.Sleep(ctx, d)
		},
	})
	return slow, func() int {
		mu.Lock()
		defer mu.Unlock()
		return highest
	}
}

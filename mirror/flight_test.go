package mirror

import (
	"context"
	"errors"
	"testing"

	"github.com/stardustdb/stardust/mirror/internal/local"
)

func newFlight(force bool) *flight {
	return &flight{done: make(chan struct{}), interest: 1, force: force}
}

func TestNobodyJoinsAFlightThatIsOverOrLeft(t *testing.T) {
	none := func(*flight) { t.Error("promoted") }
	ended := newFlight(false)
	ended.end(nil, nil, func() {
		if ended.join(newFlight(false), none) {
			t.Error("joined a flight whose outcome is known")
		}
	})
	left := newFlight(false)
	left.leave(nil, func(*turn) bool { return true })
	if left.join(newFlight(false), none) {
		t.Error("joined a flight that everybody left")
	}
	if left.begin(func() {}, nil) || !errors.Is(left.err, context.Canceled) {
		t.Error("a flight that everybody left began")
	}
}

func TestAForcedNewcomerForcesAFlightThatWaits(t *testing.T) {
	current, stale, other := &local.Entry{}, &local.Entry{}, &local.Entry{}
	for name, c := range map[string]struct {
		join []*flight
		want bool // to be downloaded although current is local
	}{
		"plain":            {[]*flight{newFlight(false)}, false},
		"forced":           {[]*flight{newFlight(true)}, true},
		"stale is current": {[]*flight{{interest: 1, stale: current}}, true},
		"stale is older":   {[]*flight{{interest: 1, stale: stale}}, false},
		"stale are two":    {[]*flight{{interest: 1, stale: stale}, {interest: 1, stale: other}}, true},
	} {
		f := newFlight(false)
		for _, newcomer := range c.join {
			if !f.join(newcomer, func(*flight) {}) {
				t.Fatalf("%s: did not join", name)
			}
		}
		if got := f.begin(func() {}, current); got != c.want {
			t.Errorf("%s: downloads %v", name, got)
		}
	}
}

func TestAFlightStopsWhenTheLastLeaves(t *testing.T) {
	f := newFlight(false)
	f.join(newFlight(false), func(*flight) {})
	stopped := false
	f.begin(func() { stopped = true }, nil)
	f.leave(nil, func(*turn) bool { t.Error("the turn had begun"); return false })
	if stopped {
		t.Error("stopped while one was interested")
	}
	f.leave(nil, func(*turn) bool { return false })
	if !stopped {
		t.Error("goes on for nobody")
	}
}

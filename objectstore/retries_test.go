package objectstore_test

import (
	"math"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestRetriesSayForeverNoneAndANumber(t *testing.T) {
	for _, c := range []struct {
		retries objectstore.Retries
		text    string
		allowed int // of 100
		valid   bool
	}{
		{objectstore.RetryForever, "forever", 100, true},
		{objectstore.NoRetries, "none", 0, true},
		{0, "default", 0, true},
		{3, "3", 3, true},
		{math.MaxInt32, "2147483647", 100, true},
		{-3, "-3", 0, false},
	} {
		allowed := 0
		for n := range 100 {
			if c.retries.Allow(n) {
				allowed++
			}
		}
		if allowed != c.allowed || c.retries.Valid() != c.valid || c.retries.String() != c.text {
			t.Errorf("%d: allows %d of 100, valid %v, %q; want %d, %v, %q", int(c.retries), allowed, c.retries.Valid(),
				c.retries.String(), c.allowed, c.valid, c.text)
		}
	}
	if got := objectstore.Retries(0).Or(10); got != 10 {
		t.Errorf("the default is %v, want 10", got)
	}
	if got := objectstore.NoRetries.Or(10); got != objectstore.NoRetries {
		t.Errorf("none or the default is %v, want none", got)
	}
}

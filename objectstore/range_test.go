package objectstore_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

func TestRangesResolve(t *testing.T) {
	bounded, from, suffix := objectstore.Bounded, objectstore.From, objectstore.Suffix
	for _, c := range []struct {
		bytes            *objectstore.Range
		size, start, end int64 // end -1: refused
		text             string
	}{
		{nil, 0, 0, 0, "bytes=0-"},
		{nil, 10, 0, 10, "bytes=0-"},
		{bounded(0, 10), 10, 0, 10, "bytes=0-9"},
		{bounded(9, 20), 10, 9, 10, "bytes=9-19"},
		{bounded(0, math.MaxInt64), 10, 0, 10, "bytes=0-9223372036854775806"},
		{bounded(10, 20), 10, 0, -1, "bytes=10-19"},
		{bounded(5, 5), 10, 0, -1, "bytes=5-4"},
		{bounded(7, 5), 10, 0, -1, "bytes=7-4"},
		{bounded(-1, 5), 10, 0, -1, "bytes=-1-4"},
		{bounded(0, 1), 0, 0, -1, "bytes=0-0"},
		{from(0), 10, 0, 10, "bytes=0-"},
		{from(9), 10, 9, 10, "bytes=9-"},
		{from(10), 10, 0, -1, "bytes=10-"},
		{from(0), 0, 0, -1, "bytes=0-"},
		{from(-1), 10, 0, -1, "bytes=-1-"},
		{suffix(3), 10, 7, 10, "bytes=-3"},
		{suffix(10), 10, 0, 10, "bytes=-10"},
		{suffix(math.MaxInt64), 10, 0, 10, "bytes=-9223372036854775807"},
		{suffix(0), 10, 0, -1, "bytes=-0"},
		{suffix(-3), 10, 0, -1, "bytes=--3"},
		{suffix(1), 0, 0, -1, "bytes=-1"},
	} {
		start, end, err := c.bytes.Resolve(c.size)
		switch {
		case c.end < 0:
			if !errors.Is(err, objectstore.ErrInvalidRange) || start != 0 || end != 0 {
				t.Errorf("%v of %d: [%d, %d), %v", c.bytes, c.size, start, end, err)
			}
		case err != nil || start != c.start || end != c.end:
			t.Errorf("%v of %d: [%d, %d), %v, want [%d, %d)", c.bytes, c.size, start, end, err, c.start, c.end)
		}
		if got := c.bytes.String(); got != c.text {
			t.Errorf("%d, %d is %q, want %q", c.start, c.end, got, c.text)
		}
	}
}

func FuzzRangeResolve(f *testing.F) {
	f.Add(0, int64(0), int64(10), int64(10))
	f.Add(1, int64(-1), int64(0), int64(0))
	f.Add(2, int64(math.MaxInt64), int64(math.MinInt64), int64(1))
	f.Fuzz(func(t *testing.T, kind int, a, b, size int64) {
		if size < 0 {
			return
		}
		var r *objectstore.Range
		switch uint(kind) % 3 {
		case 0:
			r = objectstore.Bounded(a, b)
		case 1:
			r = objectstore.From(a)
		case 2:
			r = objectstore.Suffix(a)
		}
		start, end, err := r.Resolve(size)
		if err != nil {
			if !errors.Is(err, objectstore.ErrInvalidRange) {
				t.Fatal(err)
			}
			return
		}
		if start < 0 || start >= end || end > size {
			t.Fatalf("%v of %d is [%d, %d)", r, size, start, end)
		}
	})
}

package main

import (
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8/decor"
)

// A bar says how much, how fast and how long yet, and nothing that it can't know.
func TestRateInWords(t *testing.T) {
	start := time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		elapsed           time.Duration
		stat              decor.Statistics
		done, speed, left string
	}{
		{0, decor.Statistics{Total: 1 << 20}, "0 B / 1.0 MiB ", "", ""},
		{2 * time.Second, decor.Statistics{Current: 1 << 20, Total: 4 << 20}, "1.0 MiB / 4.0 MiB ", "512 KiB/s", "6s left"},
		{time.Minute, decor.Statistics{Current: 60, Total: 24 * 60}, "60 B / 1.4 KiB ", "1 B/s", "23m0s left"},
		{time.Second, decor.Statistics{Current: 10, Total: 5}, "10 B / 5 B ", "10 B/s", ""},
		{time.Second, decor.Statistics{Current: 5, Total: 5, Completed: true}, "5 B / 5 B ", "5 B/s", ""},
	} {
		r := rate{start, func() time.Time { return start.Add(test.elapsed) }}
		if got := r.done(test.stat); got != test.done {
			t.Errorf("done %+v is %q, want %q", test.stat, got, test.done)
		}
		if got := r.speed(test.stat); got != test.speed {
			t.Errorf("speed %+v is %q, want %q", test.stat, got, test.speed)
		}
		if got := r.left(test.stat); got != test.left {
			t.Errorf("left %+v is %q, want %q", test.stat, got, test.left)
		}
	}
}

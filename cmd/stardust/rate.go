package main

import (
	"time"

	"github.com/vbauerster/mpb/v8/decor"
)

// rate says in words how far a bar is, how fast it goes, and how long it will
// take. Its methods are the bar's decorators.
type rate struct {
	start time.Time
	now   func() time.Time
}

func (r rate) done(s decor.Statistics) string {
	return humanSize(s.Current) + " / " + humanSize(s.Total) + " "
}

func (r rate) speed(s decor.Statistics) string {
	seconds := r.now().Sub(r.start).Seconds()
	if seconds <= 0 {
		return ""
	}
	return humanSize(int64(float64(s.Current)/seconds)) + "/s"
}

func (r rate) left(s decor.Statistics) string {
	if s.Completed || s.Current <= 0 || s.Total < s.Current {
		return ""
	}
	elapsed := r.now().Sub(r.start)
	left := time.Duration(float64(elapsed) * float64(s.Total-s.Current) / float64(s.Current))
	return left.Round(time.Second).String() + " left"
}

// Package retain decides which revisions a retention policy keeps.
package retain

import (
	"fmt"
	"time"
)

// Policy says which revisions to keep. Of a rule with a number, that many are
// kept, and all when it is negative. A revision that any rule wants stays.
type Policy struct {
	Last int // the newest ones
	// Of each of the newest hours, days, weeks, months and years that have any
	// revision, the newest one.
	Hourly, Daily, Weekly, Monthly, Yearly int
	// Within keeps those that are at most so much older than the newest.
	Within time.Duration
	// Zone says when a day begins; nil means UTC.
	Zone *time.Location
}

// Empty reports whether no rule wants anything.
func (p *Policy) Empty() bool {
	return p.Last == 0 && p.Hourly == 0 && p.Daily == 0 && p.Weekly == 0 && p.Monthly == 0 && p.Yearly == 0 && p.Within == 0
}

// rule keeps the newest revision of each period.
type rule struct {
	name   string
	left   int // negative: no limit
	period func(i int, t time.Time) string
	last   string
	begun  bool
}

// Reasons returns why each revision is kept, given their times, the newest
// revision first; nil for those that are not. Clocks go back: what counts is the
// order, and a period that comes again after another counts again.
func (p *Policy) Reasons(times []time.Time) [][]string {
	rules := []*rule{
		{name: "last", left: p.Last, period: func(i int, _ time.Time) string { return fmt.Sprint(i) }},
		{name: "hourly", left: p.Hourly, period: func(_ int, t time.Time) string { return t.Format("2006-01-02 15 -0700") }},
		{name: "daily", left: p.Daily, period: func(_ int, t time.Time) string { return t.Format(time.DateOnly) }},
		{name: "weekly", left: p.Weekly, period: func(_ int, t time.Time) string {
			year, week := t.ISOWeek()
			return fmt.Sprint(year, " ", week)
		}},
		{name: "monthly", left: p.Monthly, period: func(_ int, t time.Time) string { return t.Format("2006-01") }},
		{name: "yearly", left: p.Yearly, period: func(_ int, t time.Time) string { return t.Format("2006") }},
	}
	zone := p.Zone
	if zone == nil {
		zone = time.UTC
	}
	reasons := make([][]string, len(times))
	for i, at := range times {
		at = at.In(zone)
		for _, r := range rules {
			if r.wants(i, at) {
				reasons[i] = append(reasons[i], r.name)
			}
		}
		if p.Within > 0 && times[0].Sub(at) <= p.Within {
			reasons[i] = append(reasons[i], "within")
		}
	}
	return reasons
}

func (r *rule) wants(i int, at time.Time) bool {
	if r.left == 0 {
		return false
	}
	period := r.period(i, at)
	if r.begun && period == r.last {
		return false
	}
	r.begun, r.last = true, period
	if r.left > 0 {
		r.left--
	}
	return true
}

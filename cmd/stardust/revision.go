package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust"
)

// revision is a point of the history on the command line: a number, a time, a
// tag, or "latest", which is what a nil pointer and the zero value mean. It is a
// pflag.Value. Number is known once a view was taken.
type revision struct {
	set    bool
	text   string
	number int64
}

func (r *revision) Set(text string) error {
	*r = revision{}
	if text == "latest" {
		return nil
	}
	if text == "" || text[0] == '-' {
		return fmt.Errorf("%q is not a revision; give a number from stardust log, a time, a tag, or latest", text)
	}
	r.set, r.text = true, text
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		r.number, r.text = n, ""
	}
	return nil
}

func (r *revision) String() string {
	switch {
	case !r.set:
		return ""
	case r.text != "":
		return r.text
	}
	return strconv.FormatInt(r.number, 10)
}

func (r *revision) Type() string { return "revision" }

// numeric returns the number of a revision that was given as one; zero when none
// was.
func (r *revision) numeric() (int64, error) {
	if r.text != "" {
		return 0, usagef("--at %s: it must be a number here", r.text)
	}
	return r.number, nil
}

// of returns the number of a revision of a database; zero when none was given.
func (r *revision) of(db *stardust.DB) (int64, error) {
	if r.text == "" {
		return r.number, nil
	}
	return revisionOf(db, r.text)
}

// view returns the database as it was at the revision.
func (r *revision) view(db *stardust.DB) (*stardust.Snapshot, error) {
	if r == nil || !r.set {
		return db.Snapshot()
	}
	number, err := r.of(db)
	if err != nil {
		return nil, err
	}
	r.number = number
	return db.AsOf(number)
}

// revisionOf finds a tag, or else the last revision by a time.
func revisionOf(db *stardust.DB, text string) (int64, error) {
	number, err := db.TagRevision(text)
	if !isMissing(err) {
		return number, err
	}
	when, ok := parseTime(text, time.Now())
	if !ok {
		return 0, fmt.Errorf("%s is neither a revision nor a tag nor a time; stardust log and stardust tag list them", quote(text))
	}
	return db.RevisionAt(when)
}

// parseTime reads a time as people write it, in the local zone. A day alone
// means its end.
func parseTime(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"} {
		if when, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return when, true
		}
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day.AddDate(0, 0, 1).Add(-1), true
	}
	if text == "yesterday" {
		return now.AddDate(0, 0, -1), true
	}
	if n := len(text) - 1; n > 0 && (text[n] == 'd' || text[n] == 'w') {
		days, err := strconv.Atoi(text[:n])
		if text[n] == 'w' {
			days *= 7
		}
		return now.AddDate(0, 0, -days), err == nil && days >= 0
	}
	ago, err := time.ParseDuration(text)
	return now.Add(-ago), err == nil && ago >= 0
}

// atFlag adds --at to a command that reads.
func atFlag(cmd *cobra.Command, at *revision) {
	cmd.Flags().Var(at, "at", "read the tree as it was at this revision, tag or time (see stardust log)")
}

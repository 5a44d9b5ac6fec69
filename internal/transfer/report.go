package transfer

import "sync"

// Progress tells how far an import or export has come. Numbers only grow.
type Progress struct {
	Directories int64 // made, or there already
	Files       int64 // done, whatever the outcome was
	Bytes       int64 // of file content read or written so far
}

// Problem is a file or directory that was left out.
type Problem struct {
	Path    string // names divided by "/"
	Err     error
	Skipped bool // of a kind that is never taken; otherwise it failed
}

// maxProblems bounds the failures that a report keeps, and the skipped things;
// all are counted and given to the callback.
const maxProblems = 1000

// Report says what an import or export did. Its Bytes leave out those of files
// that failed halfway.
type Report struct {
	Progress
	Created   int64 // files made
	Updated   int64 // files given new content
	Unchanged int64 // files that had the content already
	Moved     int64 // files that an import found elsewhere, with their content
	Removed   int64 // files and directories
	Skipped   int64
	Failed    int64
	Revision  int64 // the last one when it ended, or that was read
	// Problems are the first 1000 things that failed, and after them the first
	// 1000 that were skipped.
	Problems []Problem
}

// Options are what imports and exports have in common.
type Options struct {
	Workers  int // how many files are handled at a time, at least 1
	Progress func(Progress)
	Problem  func(Problem)
	Change   func(Change) // for everything that is not as it was; may be nil
	DryRun   bool         // change nothing, and report what would be
}

// Action is what a transfer did to a file or directory.
type Action string

// The actions.
const (
	ActionCreated Action = "created"
	ActionChanged Action = "changed"
	ActionMoved   Action = "moved"
	ActionRemoved Action = "removed"
)

// Change is something that a transfer did.
type Change struct {
	Action    Action
	Path      string // names divided by "/"
	From      string // of what moved: where it was
	Directory bool
}

// collector gathers the report of a transfer under way. Its methods may be
// called concurrently; the callbacks run one at a time.
type collector struct {
	options Options

	mu      sync.Mutex
	report  Report
	skipped []Problem
	lost    int64 // bytes that passed for files that failed in the end
}

// update changes the report and tells the caller.
func (c *collector) update(change func(*Report)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.report.Progress
	change(&c.report)
	if c.options.Progress != nil && c.report.Progress != before {
		c.options.Progress(c.report.Progress)
	}
}

// failed reports something that could not be transferred.
func (c *collector) failed(path string, err error) { c.problem(Problem{path, err, false}) }

// skip reports something of a kind that is never transferred.
func (c *collector) skip(path string, why error) { c.problem(Problem{path, why, true}) }

func (c *collector) problem(p Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	count, list := &c.report.Failed, &c.report.Problems
	if p.Skipped {
		count, list = &c.report.Skipped, &c.skipped
	}
	*count++
	if len(*list) < maxProblems {
		*list = append(*list, p)
	}
	if c.options.Problem != nil {
		c.options.Problem(p)
	}
}

// changed tells the caller of a change.
func (c *collector) changed(change Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Change != nil {
		c.options.Change(change)
	}
}

// done adds a file to the report by what became of it.
func (c *collector) done(o Outcome) {
	c.update(func(r *Report) {
		r.Files++
		switch o {
		case Created:
			r.Created++
		case Updated:
			r.Updated++
		case Unchanged:
			r.Unchanged++
		case Moved:
			r.Moved++
		}
	})
}

// lose takes back bytes of a file that failed. Progress, which only grows, counts
// them; the report does not.
func (c *collector) lose(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost += bytes
}

// finish returns the report. No other method may be called after it.
func (c *collector) finish() *Report {
	c.report.Bytes -= c.lost
	c.report.Problems = append(c.report.Problems, c.skipped...)
	return &c.report
}

// Write counts bytes that pass.
func (c *collector) Write(p []byte) (int, error) {
	c.update(func(r *Report) { r.Bytes += int64(len(p)) })
	return len(p), nil
}

// Outcome is what became of one file or directory.
type Outcome int

const (
	// Failed is left out; a problem says why.
	Failed Outcome = iota
	// Created is new.
	Created
	// Updated was there and has new content.
	Updated
	// Unchanged was there as it should be.
	Unchanged
	// Moved was elsewhere in the tree, with its content.
	Moved
)

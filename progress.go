package stardust

import (
	"runtime"
	"sync"
)

// Progress tells how far an import or export has come. Numbers only grow.
type Progress struct {
	Directories int64 // made, or there already
	Files       int64 // done, whatever the outcome was
	Bytes       int64 // of file content read or written so far
}

// Problem is a file or directory that an import or export left out.
type Problem struct {
	// Path is where it lies, names divided by "/". It may hold any bytes:
	// print it with %q.
	Path string
	Err  error
	// Skipped says that it is of a kind that is never taken, such as a
	// symbolic link; otherwise it failed.
	Skipped bool
}

// maxProblems bounds the problems that a report keeps; all are counted and
// given to the callback.
const maxProblems = 1000

// TransferReport says what an import or export did.
type TransferReport struct {
	Progress
	Created   int64 // files made
	Updated   int64 // files given new content
	Unchanged int64 // files that had the content already
	Skipped   int64 // of a kind that is never taken
	Failed    int64
	// Problems are the first 1000 of what was skipped or failed.
	Problems []Problem
}

// TransferOptions are the options of Import and Export. A nil pointer means the
// zero value.
type TransferOptions struct {
	// Workers is how many files are handled at the same time, at most 256 and
	// one for every 16 MiB of the memory budget; zero means one for each
	// processor.
	Workers int
	// Progress, when not nil, is called after every step that changed it, one
	// call at a time.
	Progress func(Progress)
	// Problem, when not nil, is called for everything that is left out, one
	// call at a time.
	Problem func(Problem)
	// Replace lets an export overwrite files that have other content. An
	// import always gives the tree's files their new content.
	Replace bool
}

// maxWorkers bounds TransferOptions.Workers.
const maxWorkers = 256

// transfer collects the report of an import or export under way.
type transfer struct {
	options TransferOptions
	mu      sync.Mutex
	report  TransferReport
}

// limitWorkers settles how many workers there are: no more than a limit, of the
// uploads that the memory budget has room for.
func (t *transfer) limitWorkers(limit int64) {
	n := t.options.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	t.options.Workers = int(max(1, min(int64(n), limit, maxWorkers)))
}

// update changes the report and tells the caller.
func (t *transfer) update(change func(*TransferReport)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.report.Progress
	change(&t.report)
	if t.options.Progress != nil && t.report.Progress != before {
		t.options.Progress(t.report.Progress)
	}
}

func (t *transfer) problem(path string, err error, skipped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Problem{path, err, skipped}
	if skipped {
		t.report.Skipped++
	} else {
		t.report.Failed++
	}
	if len(t.report.Problems) < maxProblems {
		t.report.Problems = append(t.report.Problems, p)
	}
	if t.options.Problem != nil {
		t.options.Problem(p)
	}
}

// countingWriter tells a transfer of the bytes that pass.
type countingWriter struct{ t *transfer }

func (c countingWriter) Write(p []byte) (int, error) {
	c.t.update(func(r *TransferReport) { r.Bytes += int64(len(p)) })
	return len(p), nil
}

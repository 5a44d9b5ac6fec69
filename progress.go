package stardust

import (
	"runtime"

	"github.com/stardustdb/stardust/internal/transfer"
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
	// Skipped says that its kind is never taken, such as a socket; otherwise it
	// failed.
	Skipped bool
}

// TransferReport says what an import or export did. Its Bytes leave out those of
// files that failed halfway.
type TransferReport struct {
	Progress
	Created   int64 // files made
	Updated   int64 // files given new content
	Unchanged int64 // files that had the content already
	Moved     int64 // files that an import found elsewhere, with their content
	Removed   int64 // files and directories
	Skipped   int64 // of a kind that is never taken
	Failed    int64
	// Revision is the last one when an import ended, or the one that an export
	// read.
	Revision int64
	// Problems are the first 1000 things that failed, and after them the first
	// 1000 that were skipped.
	Problems []Problem
}

// TransferAction is what an import or export did to a file or directory.
type TransferAction string

// The actions.
const (
	ActionCreated TransferAction = "created"
	ActionChanged TransferAction = "changed"
	ActionMoved   TransferAction = "moved"
	ActionRemoved TransferAction = "removed"
)

// TransferChange is something that an import or export did.
type TransferChange struct {
	Action TransferAction
	// Path is where it lies beneath what was transferred, names divided by "/";
	// From is where a moved one was.
	Path, From string
	Directory  bool
}

func changeCallback(call func(TransferChange)) func(transfer.Change) {
	if call == nil {
		return nil
	}
	return func(c transfer.Change) {
		call(TransferChange{TransferAction(c.Action), c.Path, c.From, c.Directory})
	}
}

// maxProblems bounds the problems that a report keeps.
const maxProblems = 1000

// maxWorkers bounds how many files a transfer handles at a time.
const maxWorkers = 256

// transferOptions returns the options of a transfer with no more workers than a
// limit, the number of uploads that the memory budget has room for.
func transferOptions(limit int64, workers int, progress func(Progress), problem func(Problem)) transfer.Options {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	o := transfer.Options{Workers: int(max(1, min(int64(workers), limit, maxWorkers)))}
	if progress != nil {
		o.Progress = func(p transfer.Progress) { progress(Progress(p)) }
	}
	if problem != nil {
		o.Problem = func(p transfer.Problem) { problem(Problem(p)) }
	}
	return o
}

func newTransferReport(r *transfer.Report) *TransferReport {
	report := &TransferReport{
		Progress: Progress(r.Progress),
		Created:  r.Created, Updated: r.Updated, Unchanged: r.Unchanged,
		Moved: r.Moved, Removed: r.Removed, Skipped: r.Skipped, Failed: r.Failed, Revision: r.Revision,
	}
	for _, p := range r.Problems {
		report.Problems = append(report.Problems, Problem(p))
	}
	return report
}

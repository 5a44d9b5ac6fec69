//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"context"
	"sync"
	"unsafe"

	"github.com/stardustdb/stardust"
)

// watcher runs a long call on a goroutine of its own, and its callbacks on the
// thread that called: languages with one thread, or a lock around them, can
// then be called back.
type watcher struct {
	of     *database
	calls  callbacks
	stop   context.CancelFunc
	mu     sync.Mutex // one callback at a time
	events chan func()
	done   chan struct{} // a callback returned
}

// callbacks are a caller's stardust_watch.
type callbacks struct {
	progress C.stardust_progress_fn
	problem  C.stardust_problem_fn
	context  C.uintptr_t
	cancel   C.stardust_cancel
}

// watched runs a call with the callbacks and the cancel handle of given,
// which may be nil.
func watched(d *database, given *C.stardust_const_watch, call func(context.Context, *watcher) (*stardust.Document, error)) C.stardust_result {
	w := &watcher{of: d, events: make(chan func()), done: make(chan struct{})}
	if given != nil {
		w.calls = callbacks{progress: given.progress, problem: given.problem, context: number(given.context), cancel: given.cancel}
	}
	parent, err := contextOf(w.calls.cancel)
	if err != nil {
		return fail(err)
	}
	ctx, stop := context.WithCancel(parent)
	defer stop()
	w.stop = stop
	if w.calls.progress == nil && w.calls.problem == nil {
		return give(call(ctx, w))
	}
	var document *stardust.Document
	go func() {
		defer close(w.events)
		document, err = call(ctx, w)
	}()
	for event := range w.events {
		d.callback(event)
		w.done <- struct{}{}
	}
	return give(document, err)
}

// onCaller runs fn, which returns what a callback did, on the caller's thread.
func (w *watcher) onCaller(fn func() C.int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events <- func() {
		if fn() != 0 {
			w.stop()
		}
	}
	<-w.done
}

func (w *watcher) progress(p C.stardust_progress) {
	if w.calls.progress != nil {
		w.onCaller(func() C.int { return C.stardust_run_progress(w.calls.progress, w.calls.context, &p) })
	}
}

func (w *watcher) problem(path string, skipped bool, err error) {
	if w.calls.problem == nil {
		return
	}
	e := asError(err)
	texts := newErrorTexts(e)
	defer texts.free()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var left C.int
	if skipped {
		left = 1
	}
	w.onCaller(func() C.int {
		var told C.stardust_error
		texts.fill(&told, e.Status)
		return C.stardust_run_problem(w.calls.problem, w.calls.context, name, left, &told)
	})
}

// transferred returns the progress callback of an import or export.
func (w *watcher) transferred() func(stardust.Progress) {
	if w.calls.progress == nil {
		return nil
	}
	return func(p stardust.Progress) {
		w.progress(C.stardust_progress{directories: C.int64_t(p.Directories), files: C.int64_t(p.Files), bytes: C.int64_t(p.Bytes)})
	}
}

// left returns the callback for what an import or export leaves out.
func (w *watcher) left() func(stardust.Problem) {
	if w.calls.problem == nil {
		return nil
	}
	return func(p stardust.Problem) { w.problem(p.Path, p.Skipped, p.Err) }
}

// checked returns the progress callback of a check.
func (w *watcher) checked() func(stardust.CheckProgress) {
	if w.calls.progress == nil {
		return nil
	}
	return func(p stardust.CheckProgress) { w.progress(chunksDone(p.Chunks, p.TotalChunks, p.Bytes, p.TotalBytes)) }
}

// copied returns the progress callback of a backup.
func (w *watcher) copied() func(stardust.BackupProgress) {
	if w.calls.progress == nil {
		return nil
	}
	return func(p stardust.BackupProgress) {
		w.progress(chunksDone(p.Chunks, p.TotalChunks, p.Bytes, p.TotalBytes))
	}
}

func chunksDone(chunks, total, bytes, totalBytes int64) C.stardust_progress {
	return C.stardust_progress{
		chunks: C.int64_t(chunks), total_chunks: C.int64_t(total),
		bytes: C.int64_t(bytes), total_bytes: C.int64_t(totalBytes),
	}
}

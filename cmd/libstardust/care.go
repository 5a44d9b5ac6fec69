//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"context"

	"github.com/stardustdb/stardust"
)

//export stardust_db_backup
func stardust_db_backup(handle C.stardust_db, path *C.stardust_const_char, watch *C.stardust_const_watch) C.stardust_result {
	if path == nil {
		return fail(isNull("path"))
	}
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	to := C.GoString(path)
	return watched(d, watch, func(ctx context.Context, w *watcher) (*stardust.Document, error) {
		return nil, d.db.Backup(ctx, to, &stardust.BackupOptions{Progress: w.copied()})
	})
}

// checkReport is a report as documents show it.
type checkReport struct {
	Chunks       int64    `json:"chunks"`
	TotalChunks  int64    `json:"totalChunks"`
	Bytes        int64    `json:"bytes"`
	TotalBytes   int64    `json:"totalBytes"`
	Payloads     int64    `json:"payloads"`
	Nodes        int64    `json:"nodes"`
	Versions     int64    `json:"versions"`
	Transactions int64    `json:"transactions"`
	Damaged      int64    `json:"damaged"`
	Problems     []string `json:"problems"`
}

//export stardust_db_check
func stardust_db_check(handle C.stardust_db, watch *C.stardust_const_watch) C.stardust_result {
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	if d.inCallback() {
		// A check waits for the one before it, which may wait for this callback.
		return fail(refused(stardust.StatusInvalidArgument, "a callback can't check the database that its call works on"))
	}
	return watched(d, watch, func(ctx context.Context, w *watcher) (*stardust.Document, error) {
		options := &stardust.CheckOptions{Progress: w.checked()}
		if w.calls.problem != nil {
			options.Problem = func(err error) { w.problem("", false, err) }
		}
		report, err := d.db.Check(ctx, options)
		return withReport(newCheckReport(report), err)
	})
}

func newCheckReport(r *stardust.CheckReport) *checkReport {
	if r == nil {
		r = new(stardust.CheckReport)
	}
	shown := &checkReport{
		r.Chunks, r.TotalChunks, r.Bytes, r.TotalBytes,
		r.Payloads, r.Nodes, r.Versions, r.Transactions, r.Damaged,
		[]string{},
	}
	for _, problem := range r.Problems {
		shown.Problems = append(shown.Problems, problem.Error())
	}
	return shown
}

// withReport returns a report as a document, beside the error of its call.
func withReport(report any, err error) (*stardust.Document, error) {
	document, failed := documentOf(report)
	if err == nil {
		err = failed
	}
	return document, err
}

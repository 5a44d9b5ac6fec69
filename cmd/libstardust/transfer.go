//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"context"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/stardustdb/stardust"
)

// transferReport is a report as documents show it.
type transferReport struct {
	Directories int64     `json:"directories"`
	Files       int64     `json:"files"`
	Bytes       int64     `json:"bytes"`
	Created     int64     `json:"created"`
	Updated     int64     `json:"updated"`
	Unchanged   int64     `json:"unchanged"`
	Skipped     int64     `json:"skipped"`
	Failed      int64     `json:"failed"`
	Problems    []problem `json:"problems"`
}

type problem struct {
	Path    string `json:"path"`
	Error   string `json:"error"`
	Skipped bool   `json:"skipped"`
}

func newTransferReport(r *stardust.TransferReport) *transferReport {
	if r == nil {
		r = new(stardust.TransferReport)
	}
	shown := &transferReport{
		r.Directories, r.Files, r.Bytes,
		r.Created, r.Updated, r.Unchanged, r.Skipped, r.Failed,
		[]problem{},
	}
	for _, p := range r.Problems {
		shown.Problems = append(shown.Problems, problem{escaped(p.Path), escaped(p.Err.Error()), p.Skipped})
	}
	return shown
}

// escaped returns text that documents can hold; bytes that are no UTF-8 are
// written as \x and two digits.
func escaped(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

//export stardust_db_import
func stardust_db_import(handle C.stardust_db, from *C.stardust_const_char, into C.int64_t, options C.stardust_document, watch *C.stardust_const_watch) C.stardust_result {
	if from == nil {
		return fail(isNull("from"))
	}
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	given, err := newTransferOptions(options, false)
	if err != nil {
		return fail(err)
	}
	root, err := os.OpenRoot(C.GoString(from))
	if err != nil {
		return fail(sourceError(err))
	}
	defer root.Close()
	return watched(d, watch, func(ctx context.Context, w *watcher) (*stardust.Document, error) {
		report, err := d.db.Tree().Import(ctx, root.FS(), int64(into), &stardust.ImportOptions{
			Workers: given.workers, Progress: w.transferred(), Problem: w.left(),
		})
		return withReport(newTransferReport(report), err)
	})
}

func sourceError(err error) error {
	status := stardust.StatusIO
	if os.IsNotExist(err) {
		status = stardust.StatusNotFound
	}
	return &stardust.Error{Status: status, Op: "objects.import", Message: "the directory to import can't be opened", Err: err}
}

//export stardust_db_export
func stardust_db_export(handle C.stardust_db, entity C.int64_t, to *C.stardust_const_char, options C.stardust_document, watch *C.stardust_const_watch) C.stardust_result {
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	return export(d, d.db.Objects(), entity, to, options, watch)
}

func export(d *database, objects stardust.Objects, entity C.int64_t, to *C.stardust_const_char, options C.stardust_document, watch *C.stardust_const_watch) C.stardust_result {
	if to == nil {
		return fail(isNull("to"))
	}
	given, err := newTransferOptions(options, true)
	if err != nil {
		return fail(err)
	}
	target := C.GoString(to)
	return watched(d, watch, func(ctx context.Context, w *watcher) (*stardust.Document, error) {
		report, err := objects.Tree().Export(ctx, int64(entity), target, &stardust.ExportOptions{
			Workers: given.workers, Replace: given.replace, Progress: w.transferred(), Problem: w.left(),
		})
		return withReport(newTransferReport(report), err)
	})
}

// transferOptions are what the options of an import or export may say.
type transferOptions struct {
	workers int
	replace bool // exports only
}

func newTransferOptions(handle C.stardust_document, export bool) (*transferOptions, error) {
	options := new(transferOptions)
	given, err := borrow(handle, true)
	if err != nil || given == nil {
		return options, err
	}
	root, err := given.Root()
	if err != nil {
		return nil, err
	}
	if root.Kind() != stardust.ValueObject {
		return nil, refused(stardust.StatusInvalidArgument, "options: they are an object, not "+root.Kind().String())
	}
	for name, value := range root.Members() {
		ok := false
		switch {
		case name == "workers":
			var n int64
			n, ok = value.Int64()
			options.workers = int(min(n, 1<<20))
			ok = ok && n >= 0
		case name == "replace" && export:
			options.replace, ok = value.Bool()
		default:
			return nil, refused(stardust.StatusInvalidArgument, "options: "+strconv.Quote(name)+" is not known")
		}
		if !ok {
			return nil, refused(stardust.StatusInvalidArgument, "options: "+name+" can't be "+value.String())
		}
	}
	return options, nil
}

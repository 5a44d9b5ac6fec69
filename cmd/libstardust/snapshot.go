//go:build cgo

package main

// #include "cgo.h"
import "C"

import "github.com/stardustdb/stardust"

// snapshot is a view of a database at a revision.
type snapshot struct {
	entry
	of   *database
	view *stardust.Snapshot
}

func (*snapshot) kind() kind { return kindSnapshot }

func (*snapshot) discard() {} // it holds nothing

//export stardust_db_as_of
func stardust_db_as_of(handle C.stardust_db, revision C.int64_t, into *C.stardust_snapshot) C.stardust_result {
	return newSnapshot(handle, into, func(db *stardust.DB) (*stardust.Snapshot, error) { return db.AsOf(int64(revision)) })
}

//export stardust_db_snapshot
func stardust_db_snapshot(handle C.stardust_db, into *C.stardust_snapshot) C.stardust_result {
	return newSnapshot(handle, into, (*stardust.DB).Snapshot)
}

func newSnapshot(handle C.stardust_db, into *C.stardust_snapshot, view func(*stardust.DB) (*stardust.Snapshot, error)) C.stardust_result {
	if into == nil {
		return fail(isNull("snapshot"))
	}
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	s, err := view(d.db)
	if err != nil {
		return fail(err)
	}
	return hand(into, &snapshot{of: d, view: s})
}

//export stardust_snapshot_revision
func stardust_snapshot_revision(handle C.stardust_snapshot, into *C.int64_t) C.stardust_result {
	if into == nil {
		return fail(isNull("revision"))
	}
	s, err := get[*snapshot](table, uint64(handle))
	if err != nil {
		return fail(err)
	}
	*into = C.int64_t(s.view.Revision())
	return 0
}

//export stardust_snapshot_plugin_call
func stardust_snapshot_plugin_call(handle C.stardust_snapshot, plugin, operation *C.stardust_const_char, request C.stardust_document) C.stardust_result {
	s, err := get[*snapshot](table, uint64(handle))
	if err != nil {
		return fail(err)
	}
	return pluginCall(callOf(s.of, s.view.Objects()), plugin, operation, request)
}

//export stardust_snapshot_export
func stardust_snapshot_export(handle C.stardust_snapshot, entity C.int64_t, to *C.stardust_const_char, options C.stardust_document, watch *C.stardust_const_watch) C.stardust_result {
	s, err := get[*snapshot](table, uint64(handle))
	if err != nil {
		return fail(err)
	}
	return export(s.of, s.view.Objects(), entity, to, options, watch)
}

//export stardust_snapshot_release
func stardust_snapshot_release(handle C.stardust_snapshot) C.stardust_status {
	_, err := end[*snapshot](table, uint64(handle))
	return statusOf(err)
}

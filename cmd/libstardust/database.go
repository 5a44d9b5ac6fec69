//go:build cgo

package main

// #include "cgo.h"
import "C"

import (
	"encoding/json"
	"sync"

	"github.com/stardustdb/stardust"
)

// database is an open database, with the threads that run callbacks of calls on
// it: those may not close it, as they would wait for themselves.
type database struct {
	entry
	db *stardust.DB

	mu        sync.Mutex
	callbacks map[C.uintptr_t]int
}

func (*database) kind() kind { return kindDB }

func (d *database) discard() { _ = d.db.Close() }

func openDatabase(handle C.stardust_db) (*database, error) {
	return get[*database](table, uint64(handle))
}

// inCallback says that the thread that asks runs a callback of this database.
func (d *database) inCallback() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.callbacks[C.stardust_this_thread()] > 0
}

// callback runs fn as a callback on this thread.
func (d *database) callback(fn func()) {
	thread := C.stardust_this_thread()
	d.mu.Lock()
	if d.callbacks == nil {
		d.callbacks = make(map[C.uintptr_t]int)
	}
	d.callbacks[thread]++
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.callbacks[thread]--; d.callbacks[thread] == 0 {
			delete(d.callbacks, thread)
		}
	}()
	fn()
}

//export stardust_db_open
func stardust_db_open(path *C.stardust_const_char, options C.stardust_document, into *C.stardust_db) C.stardust_result {
	if path == nil {
		return fail(isNull("path"))
	}
	if into == nil {
		return fail(isNull("db"))
	}
	given, err := borrow(options, true)
	if err != nil {
		return fail(err)
	}
	parsed := new(stardust.Options)
	if given != nil {
		if parsed, err = stardust.ParseOptions(given); err != nil {
			return fail(err)
		}
	}
	db, err := stardust.Open(C.GoString(path), parsed)
	if err != nil {
		return fail(err)
	}
	return hand(into, &database{db: db})
}

//export stardust_db_close
func stardust_db_close(handle C.stardust_db) C.stardust_result {
	d, err := openDatabase(handle)
	if err == nil && d.inCallback() {
		return fail(refused(stardust.StatusInvalidArgument, "a callback can't close the database that its call works on"))
	}
	if err == nil {
		d, err = end[*database](table, uint64(handle))
	}
	if err != nil {
		return fail(err)
	}
	return fail(d.db.Close())
}

//export stardust_db_plugin_call
func stardust_db_plugin_call(handle C.stardust_db, plugin, operation *C.stardust_const_char, request C.stardust_document) C.stardust_result {
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	return pluginCall(d.db.Call, plugin, operation, request)
}

//export stardust_db_plugin_call_cancelable
func stardust_db_plugin_call_cancelable(handle C.stardust_db, plugin, operation *C.stardust_const_char, request C.stardust_document, cancel C.stardust_cancel) C.stardust_result {
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	ctx, err := contextOf(cancel)
	if err != nil {
		return fail(err)
	}
	return pluginCall(callOf(d, d.db.Objects().WithContext(ctx)), plugin, operation, request)
}

// callOf returns a plugin call on some objects of a database.
func callOf(d *database, objects stardust.Objects) func(string, string, *stardust.Document) (*stardust.Document, error) {
	return func(plugin, operation string, request *stardust.Document) (*stardust.Document, error) {
		if plugin != stardust.PluginObjects {
			return d.db.Call(plugin, operation, request) // which says that there is none
		}
		return objects.Call(operation, request)
	}
}

func pluginCall(call func(string, string, *stardust.Document) (*stardust.Document, error), plugin, operation *C.stardust_const_char, request C.stardust_document) C.stardust_result {
	name, op, err := pluginNames(plugin, operation)
	if err != nil {
		return fail(err)
	}
	r, err := borrow(request, false)
	if err != nil {
		return fail(err)
	}
	return give(call(name, op, r))
}

func pluginNames(plugin, operation *C.stardust_const_char) (string, string, error) {
	if plugin == nil {
		return "", "", isNull("plugin")
	}
	if operation == nil {
		return "", "", isNull("operation")
	}
	return C.GoString(plugin), C.GoString(operation), nil
}

//export stardust_db_info
func stardust_db_info(handle C.stardust_db) C.stardust_result {
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	info, err := d.db.Info()
	if err != nil {
		return fail(err)
	}
	return give(documentOf(info))
}

// documentOf returns what encoding/json makes of a value as a document.
func documentOf(v any) (*stardust.Document, error) {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return stardust.Parse(encoded, stardust.JSON)
}

//go:build cgo

package main

// #include "cgo.h"
import "C"

// hold is a hold of a database's writes.
type hold struct {
	entry
	release func()
}

func (*hold) kind() kind { return kindHold }

func (h *hold) discard() { h.release() }

//export stardust_db_hold_writes
func stardust_db_hold_writes(handle C.stardust_db, cancel C.stardust_cancel, into *C.stardust_hold) C.stardust_result {
	if into == nil {
		return fail(isNull("hold"))
	}
	d, err := openDatabase(handle)
	if err != nil {
		return fail(err)
	}
	ctx, err := contextOf(cancel)
	if err != nil {
		return fail(err)
	}
	release, err := d.db.HoldWrites(ctx)
	if err != nil {
		return fail(err)
	}
	return hand(into, &hold{release: release})
}

//export stardust_hold_release
func stardust_hold_release(handle C.stardust_hold) C.stardust_status {
	h, err := end[*hold](table, uint64(handle))
	if err != nil {
		return statusOf(err)
	}
	h.release()
	return C.STARDUST_OK
}

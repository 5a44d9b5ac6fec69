//go:build cgo

package main

// #include "cgo.h"
import "C"

import "context"

// cancelHandle stops the calls that have it.
type cancelHandle struct {
	entry
	ctx    context.Context //nolint:containedctx // what C's handle is for
	cancel context.CancelFunc
}

func (*cancelHandle) kind() kind { return kindCancel }

// contextOf returns the context of a cancel handle, and of 0 one without end.
func contextOf(handle C.stardust_cancel) (context.Context, error) {
	if handle == 0 {
		return context.Background(), nil
	}
	c, err := get[*cancelHandle](table, uint64(handle))
	if err != nil {
		return nil, err
	}
	return c.ctx, nil
}

//export stardust_cancel_new
func stardust_cancel_new() C.stardust_cancel {
	ctx, cancel := context.WithCancel(context.Background())
	return C.stardust_cancel(table.put(&cancelHandle{ctx: ctx, cancel: cancel}))
}

//export stardust_cancel_now
func stardust_cancel_now(handle C.stardust_cancel) C.stardust_status {
	c, err := get[*cancelHandle](table, uint64(handle))
	if err == nil {
		c.cancel()
	}
	return statusOf(err)
}

//export stardust_cancel_release
func stardust_cancel_release(handle C.stardust_cancel) C.stardust_status {
	// Calls that have its context go on, so it is not canceled; without a parent
	// it holds nothing that would need it.
	_, err := end[*cancelHandle](table, uint64(handle))
	return statusOf(err)
}

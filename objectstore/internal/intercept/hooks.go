package intercept

import (
	"context"

	"github.com/stardustdb/stardust/objectstore"
)

// Call describes one call to a hook.
type Call struct {
	Op   string           // one of the objectstore.Op constants
	Path objectstore.Path // or the prefix of a list
	To   objectstore.Path // the destination of a copy or rename
	Size int64            // bytes to be written, zero for other calls
}

// Hooks run around calls. Each may be nil.
type Hooks struct {
	// Begin runs before a call and may refuse it with an error. end runs once
	// when the call is over: for a Get with a body when the body is closed,
	// for a list when its iteration ends.
	Begin func(ctx context.Context, call Call) (end func(error), err error)
	// Around runs the call by run, any number of times, and returns the
	// call's error. For lists, run is the whole iteration. A call that is run
	// more than once must be one that can be repeated.
	Around func(ctx context.Context, call Call, run func(context.Context) error) error
	// Send may replace a body that is to be written.
	Send func(ctx context.Context, call Call, body objectstore.Body) objectstore.Body
	// Receive may replace the body of a result that has one.
	Receive func(ctx context.Context, call Call, result *objectstore.GetResult)
}

func (h *Hooks) begin(ctx context.Context, call Call) (func(error), error) {
	if h.Begin == nil {
		return func(error) {}, nil
	}
	return h.Begin(ctx, call)
}

func (h *Hooks) around(ctx context.Context, call Call, run func(context.Context) error) error {
	if h.Around == nil {
		return run(ctx)
	}
	return h.Around(ctx, call, run)
}

func (h *Hooks) send(ctx context.Context, call Call, body objectstore.Body) objectstore.Body {
	if h.Send == nil {
		return body
	}
	return h.Send(ctx, call, body)
}

// do runs a call whose end is its return.
func (h *Hooks) do(ctx context.Context, call Call, run func(context.Context) error) error {
	end, err := h.begin(ctx, call)
	if err != nil {
		return err
	}
	err = h.around(ctx, call, run)
	end(err)
	return err
}

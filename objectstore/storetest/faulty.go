package storetest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/intercept"
)

// FaultyOptions are the options of [Faulty].
type FaultyOptions struct {
	// Script decides what happens to each call; nil means nothing does.
	Script Script
	// Sleep waits as Fault.Delay says; nil means a real timer. A simulation
	// passes that of its clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Faulty returns a store that does to each call what the script says, and
// otherwise what inner does. It has the optional interfaces that inner has.
func Faulty(inner objectstore.Store, options FaultyOptions) objectstore.Store {
	if options.Script == nil {
		options.Script = func(string, objectstore.Path) Fault { return Fault{} }
	}
	if options.Sleep == nil {
		options.Sleep = clock.Sleep
	}
	f := &faulty{options: options}
	f.Store = intercept.New(inner, intercept.Hooks{
		Around: func(ctx context.Context, call intercept.Call, run func(context.Context) error) error {
			fault, ok := ctx.Value(faultKey{f}).(Fault)
			if !ok {
				fault = options.Script(call.Op, call.Path)
			}
			return inject(ctx, inner, call, fault, options.Sleep, run)
		},
	})
	return intercept.View(f, inner)
}

// faultKey carries a decision that was made before the call, because it changes
// the body, to the hook around the call of the same store.
type faultKey struct{ store *faulty }

type faulty struct {
	*intercept.Store
	options FaultyOptions
}

func inject(ctx context.Context, inner objectstore.Store, call intercept.Call, fault Fault, sleep func(context.Context, time.Duration) error, run func(context.Context) error) error {
	fail := func(err error) error {
		return &objectstore.Error{Op: call.Op, Store: inner.String(), Path: string(call.Path), Err: err}
	}
	if fault.Delay > 0 {
		if err := sleep(ctx, fault.Delay); err != nil {
			return fail(err)
		}
	}
	if fault.Before != nil {
		return fail(fault.Before)
	}
	if err := run(ctx); err != nil {
		return err
	}
	if fault.After != nil {
		return fail(fault.After)
	}
	return nil
}

func (f *faulty) decide(ctx context.Context, op string, path objectstore.Path) (context.Context, Fault) {
	fault := f.options.Script(op, path)
	return context.WithValue(ctx, faultKey{f}, fault), fault
}

// Get implements objectstore.Store.
func (f *faulty) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	op := objectstore.OpGet
	if options != nil && options.Head {
		op = objectstore.OpHead
	}
	ctx, fault := f.decide(ctx, op, path)
	result, err := f.Store.Get(ctx, path, options)
	if err == nil && result.Body != nil && (fault.Cut || fault.Short || fault.Flip) {
		result.Body = &faultyBody{ReadCloser: result.Body, fault: fault}
	}
	return result, err
}

// Put implements objectstore.Store.
func (f *faulty) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	ctx, fault := f.decide(ctx, objectstore.OpPut, path)
	return f.Store.Put(ctx, path, cutSend(body, fault), options)
}

// UploadPart implements objectstore.MultipartStore.
func (f *faulty) UploadPart(ctx context.Context, path objectstore.Path, id string, number int, body objectstore.Body) (objectstore.Part, error) {
	ctx, fault := f.decide(ctx, objectstore.OpUploadPart, path)
	return f.Store.UploadPart(ctx, path, id, number, cutSend(body, fault))
}

// PutMultipart implements objectstore.Store.
func (f *faulty) PutMultipart(ctx context.Context, path objectstore.Path, options *objectstore.MultipartOptions) (objectstore.Upload, error) {
	upload, err := f.Store.PutMultipart(ctx, path, options)
	if err != nil {
		return nil, err
	}
	return &faultyUpload{upload, f, path}, nil
}

type faultyUpload struct {
	objectstore.Upload
	store *faulty
	path  objectstore.Path
}

func (u *faultyUpload) PutPart(ctx context.Context, number int, body objectstore.Body) error {
	ctx, fault := u.store.decide(ctx, objectstore.OpUploadPart, u.path)
	return u.Upload.PutPart(ctx, number, cutSend(body, fault))
}

// cutSend returns a body whose source fails after CutAt bytes.
func cutSend(body objectstore.Body, fault Fault) objectstore.Body {
	if !fault.CutSend || fault.CutAt >= body.Size() || body.Validate() != nil {
		return body
	}
	cut := fmt.Errorf("%w: the sender went away: %w", ErrInjected, io.ErrUnexpectedEOF)
	return objectstore.Stream(io.MultiReader(io.LimitReader(body.Open(), fault.CutAt), failing{cut}), body.Size())
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// faultyBody cuts or alters what is read.
type faultyBody struct {
	io.ReadCloser
	fault Fault
	at    int64
}

func (b *faultyBody) Read(p []byte) (int, error) {
	if b.fault.Cut || b.fault.Short {
		left := b.fault.CutAt - b.at
		if left <= 0 {
			if b.fault.Cut {
				return 0, fmt.Errorf("%w after %d bytes: %w", ErrInjected, b.at, io.ErrUnexpectedEOF)
			}
			return 0, io.EOF
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := b.ReadCloser.Read(p)
	if i := b.fault.FlipAt - b.at; b.fault.Flip && i >= 0 && i < int64(n) {
		p[i] ^= 0xff
	}
	b.at += int64(n)
	return n, err
}

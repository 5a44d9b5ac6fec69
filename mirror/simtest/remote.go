package simtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

// errInjected is the cause of the remote's faults.
var errInjected = errors.New("injected fault")

// injected returns a fault of the remote in one of the forms in which drivers
// report them: as the network gave it, or known to be the server's and marked.
func injected(form int, what string) error {
	connection := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	var err error
	switch form {
	case 0:
		err = connection("read", os.NewSyscallError("read", syscall.ECONNRESET))
	case 1:
		err = connection("write", os.NewSyscallError("write", syscall.EPIPE))
	case 2:
		err = connection("dial", os.ErrDeadlineExceeded)
	case 3:
		// http.Client.Timeout and its Transport's look like an ended context.
		err = &url.Error{Op: "Get", URL: "http://remote", Err: context.DeadlineExceeded}
	case 4:
		err = io.ErrUnexpectedEOF
	case 5:
		err = connection("dial", os.NewSyscallError("socket", syscall.EMFILE))
	default:
		err = objectstore.Transient(errors.New("slow down"), 0)
	}
	return fmt.Errorf("%w: %s: %w", errInjected, what, err)
}

// injectedForms is how many forms injected has.
const injectedForms = 7

// opKey carries the operation of a client to the remote calls made for it.
type opKey struct{}

func opOf(ctx context.Context) *op {
	o, _ := ctx.Value(opKey{}).(*op)
	return o
}

// remote is the remote store as one life sees it. A call waits at a gate
// before its effect and at another before its answer, so that it may be
// canceled, lost or overtaken at both.
type remote struct {
	*memory.Store
	s *simulation
	l *life
}

// begin waits for the call to take effect.
func (r *remote) begin(ctx context.Context, op string, path objectstore.Path, detail string) (verdict, error) {
	v, err := r.s.sched.park(ctx, &gate{kind: gateCall, label: label("remote", op, path, detail), life: r.l, writes: writes(op), download: op == objectstore.OpGet && opOf(ctx) == nil})
	return v, r.wrap(op, path, err)
}

// answer waits for the answer to arrive. Its error says that it was lost.
func (r *remote) answer(ctx context.Context, op string, path objectstore.Path, detail string) error {
	_, err := r.s.sched.park(ctx, &gate{kind: gateAnswer, label: label("answer", op, path, detail), life: r.l})
	return r.wrap(op, path, err)
}

func (r *remote) wrap(op string, path objectstore.Path, err error) error {
	if err == nil {
		return nil
	}
	return &objectstore.Error{Op: op, Store: r.String(), Path: string(path), Err: err}
}

func label(what, op string, path objectstore.Path, detail string) string {
	var b strings.Builder
	for _, part := range []string{what, op, string(path), detail} {
		if part != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(part)
	}
	return b.String()
}

func writes(op string) bool {
	switch op {
	case objectstore.OpGet, objectstore.OpHead, objectstore.OpList, objectstore.OpListWithDelimiter:
		return false
	default:
		return true
	}
}

// Get implements objectstore.Store.
func (r *remote) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	op, detail := objectstore.OpGet, ""
	if options.Head {
		op = objectstore.OpHead
	} else if options.Range != nil {
		detail = options.Range.String()
	}
	download := op == objectstore.OpGet && opOf(ctx) == nil
	if download {
		r.s.downloadBegins(r.l, path)
	}
	result, v, err := r.get(ctx, op, path, detail, options)
	if err != nil {
		if download {
			r.s.downloadWent(path, false, true)
			r.s.downloadEnds(r.l, path, 1)
		}
		return nil, err
	}
	if result.Body != nil {
		result.End += v.lie
		result.Meta.Size += v.lie
		result.Body = &remoteBody{r: r, inner: result.Body, ctx: ctx, path: path, cut: v.cut, lie: v.lie, piece: max(1, (result.End-result.Start)/3), download: download}
	}
	return result, nil
}

func (r *remote) get(ctx context.Context, op string, path objectstore.Path, detail string, options *objectstore.GetOptions) (*objectstore.GetResult, verdict, error) {
	v, err := r.begin(ctx, op, path, detail)
	if err != nil {
		return nil, v, err
	}
	result, err := r.Store.Get(ctx, path, options)
	if lost := r.answer(ctx, op, path, detail); lost != nil {
		return nil, v, lost
	}
	return result, v, err
}

// remoteBody yields a body in pieces.
type remoteBody struct {
	r        *remote
	inner    io.ReadCloser
	ctx      context.Context //nolint:containedctx // a body is canceled by the context of its Get
	path     objectstore.Path
	piece    int64
	cut      int64
	lie      int64
	read     int64
	broken   bool
	over     bool
	download bool
}

func (b *remoteBody) Read(p []byte) (int, error) {
	if b.cut >= 0 && b.read >= b.cut {
		b.broken = true
		return 0, fmt.Errorf("%w: the body ended after %d bytes: %w", errInjected, b.read, io.ErrUnexpectedEOF)
	}
	if b.read > 0 || b.cut >= 0 {
		if _, err := b.r.s.sched.park(b.ctx, &gate{kind: gateBody, label: label("body", "", b.path, ""), life: b.r.l}); err != nil {
			b.broken = true
			return 0, err
		}
	}
	n := min(int64(len(p)), b.piece)
	if b.cut >= 0 {
		n = min(n, b.cut-b.read)
	}
	got, err := b.inner.Read(p[:n])
	b.read += int64(got)
	return got, err
}

func (b *remoteBody) Close() error {
	if b.download && !b.over {
		b.over = true
		more := 0
		switch {
		case b.lie != 0:
			more = 2 // a part of it, and all again
		case b.broken || b.cut >= 0 || b.ctx.Err() != nil:
			more = 1
		}
		b.r.s.downloadWent(b.path, b.read > 0, more > 0)
		b.r.s.downloadEnds(b.r.l, b.path, more)
	}
	return b.inner.Close()
}

// Put implements objectstore.Store.
func (r *remote) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	const op = objectstore.OpPut
	r.s.reached(opOf(ctx))
	defer r.s.alone(r.l, path, op)()
	if _, err := r.begin(ctx, op, path, ""); err != nil {
		return nil, err
	}
	data, err := r.receive(ctx, op, path, "", body)
	if err != nil {
		return nil, err
	}
	result, err := r.Store.Put(ctx, path, objectstore.Bytes(data), options)
	if err == nil {
		r.s.stored(opOf(ctx), path)
	}
	if lost := r.answer(ctx, op, path, ""); lost != nil {
		return nil, lost
	}
	return result, err
}

// receive reads a body that is sent.
func (r *remote) receive(ctx context.Context, op string, path objectstore.Path, detail string, body objectstore.Body) ([]byte, error) {
	source := body.Open()
	piece := make([]byte, max(1, body.Size()/2))
	var data []byte
	for {
		n, err := source.Read(piece)
		data = append(data, piece[:n]...)
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, r.wrap(op, path, err)
		}
		_, err = r.s.sched.park(ctx, &gate{kind: gateSend, label: label("send", op, path, detail), life: r.l})
		if err != nil {
			return nil, r.wrap(op, path, err)
		}
	}
}

// Delete implements objectstore.Store.
func (r *remote) Delete(ctx context.Context, path objectstore.Path) error {
	const op = objectstore.OpDelete
	r.s.reached(opOf(ctx))
	defer r.s.alone(r.l, path, op)()
	if _, err := r.begin(ctx, op, path, ""); err != nil {
		return err
	}
	err := r.Store.Delete(ctx, path)
	if err == nil {
		r.s.removed(path)
	}
	if lost := r.answer(ctx, op, path, ""); lost != nil {
		return lost
	}
	return err
}

// DeleteAll implements objectstore.BulkDeleter.
func (r *remote) DeleteAll(ctx context.Context, paths iter.Seq[objectstore.Path]) iter.Seq2[objectstore.Path, error] {
	const op = objectstore.OpDeleteAll
	return func(yield func(objectstore.Path, error) bool) {
		for path := range paths {
			if !yield(path, r.deleteOne(ctx, op, path)) {
				return
			}
		}
	}
}

func (r *remote) deleteOne(ctx context.Context, op string, path objectstore.Path) error {
	defer r.s.alone(r.l, path, op)()
	if _, err := r.begin(ctx, op, path, ""); err != nil {
		return err
	}
	err := r.Store.Delete(ctx, path)
	if err == nil {
		r.s.removed(path)
	}
	if errors.Is(err, objectstore.ErrNotFound) {
		err = nil
	}
	if lost := r.answer(ctx, op, path, ""); lost != nil {
		return lost
	}
	return err
}

// List implements objectstore.Store.
func (r *remote) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		if _, err := r.begin(ctx, objectstore.OpList, objectstore.Path(options.Prefix), ""); err != nil {
			yield(objectstore.ObjectMeta{}, err)
			return
		}
		r.Store.List(ctx, options)(yield)
	}
}

// ListWithDelimiter implements objectstore.Store.
func (r *remote) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	const op = objectstore.OpListWithDelimiter
	if _, err := r.begin(ctx, op, objectstore.Path(options.Prefix), ""); err != nil {
		return nil, err
	}
	result, err := r.Store.ListWithDelimiter(ctx, options)
	if lost := r.answer(ctx, op, objectstore.Path(options.Prefix), ""); lost != nil {
		return nil, lost
	}
	return result, err
}

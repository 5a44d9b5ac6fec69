package patience

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/stardustdb/stardust"
)

// Put is [stardust.Tree.Put] of a body. interrupt ends a read of it that is under way,
// and may be nil. Beside what Put returns it returns ErrBusy and ErrSlow.
func (l *Lanes) Put(ctx context.Context, tree stardust.Tree, path string, body io.Reader, options *stardust.PutOptions, interrupt func()) (record stardust.Record, err error) {
	// What cannot succeed is refused before anything is read.
	if err := tree.CheckPut(path, options); err != nil {
		return record, err
	}
	err = l.upload(ctx, tree, body, interrupt, func(upload *stardust.Upload) (err error) {
		record, err = tree.PutUpload(path, upload, options)
		return err
	})
	return record, err
}

// Interrupt returns what ends a read of a request's body that is under way, for Put
// and Publish.
func Interrupt(w http.ResponseWriter) func() {
	control := http.NewResponseController(w)
	return func() { _ = control.SetReadDeadline(time.Now()) } //nolint:forbidigo // the network knows no other clock
}

// Publish uploads a payload that no file names yet.
func (l *Lanes) Publish(ctx context.Context, tree stardust.Tree, body io.Reader, interrupt func()) (published stardust.Published, err error) {
	err = l.upload(ctx, tree, body, interrupt, func(upload *stardust.Upload) (err error) {
		published, err = upload.Finish()
		return err
	})
	return published, err
}

// upload writes a body into an upload and finishes that.
func (l *Lanes) upload(ctx context.Context, tree stardust.Tree, body io.Reader, interrupt func(), finish func(*stardust.Upload) error) error {
	var upload *stardust.Upload
	err := wait(ctx, func() (err error) {
		upload, err = tree.Upload()
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = upload.Close() }() // always nil
	w := &writer{ctx: ctx, lanes: l, upload: upload, interrupt: interrupt}
	defer w.leave()
	if err := w.copy(body); err != nil {
		if w.lane != nil && w.lane.evicted.Load() {
			return ErrSlow
		}
		return err
	}
	return wait(ctx, func() error { return finish(upload) })
}

// writer writes into an upload, in a lane once it has come far.
type writer struct {
	ctx       context.Context //nolint:containedctx // of the one call that it serves
	lanes     *Lanes
	upload    *stardust.Upload
	interrupt func()
	lane      *lane
}

// copy writes a body into the upload.
func (w *writer) copy(body io.Reader) error {
	buffer := make([]byte, 64<<10)
	for {
		var n int
		var err error
		if w.lane == nil {
			n, err = body.Read(buffer)
		} else {
			n, err = w.lane.read(body, buffer)
		}
		// Not for nothing: when the body fails, the request's context has ended, too,
		// and what counts is why the body did.
		if n > 0 {
			if written := w.write(buffer[:n]); written != nil {
				return written
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (w *writer) write(p []byte) (err error) {
	if w.lane == nil && w.upload.Size()+int64(len(p)) > freeBytes {
		if w.lane, err = w.lanes.enter(w.ctx, w.interrupt); err != nil {
			return err
		}
	}
	if w.lane != nil && w.lane.evicted.Load() {
		return ErrSlow
	}
	return wait(w.ctx, func() error {
		n, err := w.upload.Write(p)
		p = p[n:]
		return err
	})
}

func (w *writer) leave() {
	if w.lane != nil {
		w.lanes.leave(w.lane)
	}
}

// wait calls a function until there is memory for it, but not for ever.
func wait(ctx context.Context, try func() error) error {
	err := try()
	if !errors.Is(err, stardust.StatusOutOfMemory) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pause := 2 * time.Millisecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return err
		}
		if err = try(); !errors.Is(err, stardust.StatusOutOfMemory) {
			return err
		}
		pause = min(2*pause, 50*time.Millisecond)
		timer.Reset(pause)
	}
}

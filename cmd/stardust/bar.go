package main

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// barStep is how many bytes pass between two updates of a bar.
const barStep = 256 << 10

// bar shows bytes done, their rate and the time left, on standard error and only
// when that is a terminal; elsewhere it does nothing. All methods but done may
// be called concurrently; done ends it, once, and waits for its goroutines.
type bar struct {
	out      io.Writer
	progress *mpb.Progress // nil when nothing is shown
	bar      *mpb.Bar
	current  atomic.Int64
	shown    atomic.Int64
}

// newBar starts a bar; total 0 means that setTotal follows.
func (e *env) newBar(label string, total int64) *bar {
	b := &bar{out: e.err}
	if !e.errTerminal || e.quiet {
		return b
	}
	b.progress = mpb.New(mpb.WithConsoleWriter(newConsole(e.err)), mpb.WithAutoRefresh())
	r := rate{start: e.now(), now: e.now}
	b.bar = b.progress.New(0,
		mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.PrependDecorators(decor.Name(label+"  "), decor.Any(r.done)),
		mpb.AppendDecorators(decor.NewPercentage("%d", decor.WC{W: 5}), decor.Any(r.speed, decor.WC{W: 12}), decor.Any(r.left, decor.WC{W: 14})))
	b.setTotal(total)
	return b
}

// setTotal says how many bytes there will be, as far as is known by now.
func (b *bar) setTotal(n int64) {
	if b.bar != nil {
		b.bar.SetTotal(n, false)
	}
}

// set says how many bytes are done.
func (b *bar) set(n int64) {
	if b.bar != nil && n-b.shown.Load() >= barStep {
		b.shown.Store(n)
		b.bar.SetCurrent(n)
	}
}

// add says that more bytes are done.
func (b *bar) add(n int64) { b.set(b.current.Add(n)) }

// printf prints a line above the bar.
func (b *bar) printf(format string, args ...any) {
	line := []byte(printable(fmt.Sprintf(format, args...)) + "\n")
	if b.progress != nil {
		if _, err := b.progress.Write(line); err == nil {
			return
		}
	}
	_, _ = b.out.Write(line) // nowhere left to say it
}

// done ends the bar at what was reached, n bytes.
func (b *bar) done(n int64) {
	if b.progress == nil {
		return
	}
	b.bar.SetCurrent(n)
	b.bar.SetTotal(n, true)
	b.progress.Wait()
}

// countingReader tells a bar of the bytes that pass.
type countingReader struct {
	r io.Reader
	b *bar
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.b.add(int64(n))
	return n, err
}

// countingWriter tells a bar of the bytes that pass.
type countingWriter struct{ b *bar }

func (c countingWriter) Write(p []byte) (int, error) {
	c.b.add(int64(len(p)))
	return len(p), nil
}

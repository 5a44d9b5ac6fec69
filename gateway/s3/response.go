package s3

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/objectstore"
)

// sendfileStep is how much the kernel is given to send before the stall timer
// starts again: at 8 MiB a minute a client is slow but alive.
const sendfileStep = 8 << 20

// response is what the client gets.
type response struct {
	w       http.ResponseWriter
	id      string // of the request, for the client and the log
	head    bool   // no body is sent
	timeout time.Duration
	buffers *sync.Pool // of the Handler

	status int   // sent, or 0
	sent   int64 // bytes of the body
	broken bool  // the body cannot be completed
}

// writeStatus sends the header.
func (w *response) writeStatus(status int) {
	w.status = status
	w.w.WriteHeader(status)
}

// writeEmpty sends a success that says nothing.
func (w *response) writeEmpty() {
	w.w.Header().Set("Content-Length", "0")
	w.writeStatus(http.StatusOK)
}

// writeDocument sends an XML document. A HEAD request gets the headers only.
func (w *response) writeDocument(status int, d any) error {
	b, err := document.Marshal(d)
	if err != nil {
		return err
	}
	header := w.w.Header()
	header.Set("Content-Type", "application/xml")
	header.Set("Content-Length", strconv.Itoa(len(b)))
	w.writeStatus(status)
	if !w.head {
		_ = w.write(b) // a client that went away is no error of ours
	}
	return nil
}

// stall lets a write to the client take at most the duration from now on; zero
// or less means for ever. Not every ResponseWriter can; a server's can.
func (w *response) stall(limit time.Duration) {
	if w.timeout < 0 {
		return
	}
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit) //nolint:forbidigo // the network knows no other clock
	}
	_ = http.NewResponseController(w.w).SetWriteDeadline(deadline)
}

// send streams n bytes of an object's body to the client, after the header.
func (w *response) send(body io.Reader, n int64) error {
	if n == 0 {
		return nil
	}
	if body == nil {
		return fmt.Errorf("the store returned no body")
	}
	if file, ok := body.(objectstore.FileBody); ok {
		return w.sendFile(file.File(), n)
	}
	if n >= aheadLeast {
		return w.copyAhead(body, n)
	}
	return w.copyBody(body, n)
}

// sendFile has net/http send from the file itself: through io.CopyN it sees an
// *os.File and uses sendfile where the system has it.
func (w *response) sendFile(file *os.File, n int64) error {
	for n > 0 {
		w.stall(w.timeout)
		sent, err := io.CopyN(w.w, file, min(n, sendfileStep))
		w.sent += sent
		n -= sent
		if err != nil {
			return fmt.Errorf("sending the body: %w", err)
		}
	}
	return nil
}

// copyBody sends through a pooled buffer. It stops at n bytes and fails when
// the body has fewer.
func (w *response) copyBody(body io.Reader, n int64) error {
	buffer := w.buffers.Get().(*[]byte)
	defer w.buffers.Put(buffer)
	for n > 0 {
		piece := (*buffer)[:min(n, int64(len(*buffer)))]
		if _, err := io.ReadFull(body, piece); err != nil {
			return fmt.Errorf("reading the body, %d bytes before its end: %w", n, err)
		}
		if err := w.write(piece); err != nil {
			return err
		}
		n -= int64(len(piece))
	}
	return nil
}

// write sends bytes of the body.
func (w *response) write(p []byte) error {
	w.stall(w.timeout)
	n, err := w.w.Write(p)
	w.sent += int64(n)
	if err != nil {
		return fmt.Errorf("sending the body: %w", err)
	}
	return nil
}

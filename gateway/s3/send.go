package s3

import (
	"fmt"
	"io"
	"os"

	"github.com/stardustdb/stardust/objectstore"
)

// sendfileStep is how much the kernel is given to send before the stall timer
// starts again: at 8 MiB a minute a client is slow but alive.
const sendfileStep = 8 << 20

// send streams n bytes of an object's body to the client, after the header.
func (x *exchange) send(body io.Reader, n int64) error {
	if n == 0 {
		return nil
	}
	if body == nil {
		return fmt.Errorf("store returned no body for %q", x.path)
	}
	if file, ok := body.(objectstore.FileBody); ok {
		return x.sendFile(file.File(), n)
	}
	return x.copyBody(body, n)
}

// sendFile has net/http send from the file itself: through io.CopyN it sees an
// *os.File and uses sendfile where the system has it.
func (x *exchange) sendFile(file *os.File, n int64) error {
	for n > 0 {
		x.stall(x.h.options.StallTimeout)
		sent, err := io.CopyN(x.w, file, min(n, sendfileStep))
		x.sent += sent
		n -= sent
		if err != nil {
			return fmt.Errorf("sending the body of %q: %w", x.path, err)
		}
	}
	return nil
}

// copyBody sends through a pooled buffer. It stops at n bytes and fails when
// the body has fewer.
func (x *exchange) copyBody(body io.Reader, n int64) error {
	buffer := x.h.buffers.Get().(*[]byte)
	defer x.h.buffers.Put(buffer)
	for n > 0 {
		piece := (*buffer)[:min(n, int64(len(*buffer)))]
		if _, err := io.ReadFull(body, piece); err != nil {
			return fmt.Errorf("reading the body of %q, %d bytes before its end: %w", x.path, n, err)
		}
		x.stall(x.h.options.StallTimeout)
		sent, err := x.w.Write(piece)
		x.sent += int64(sent)
		n -= int64(sent)
		if err != nil {
			return fmt.Errorf("sending the body of %q: %w", x.path, err)
		}
	}
	return nil
}

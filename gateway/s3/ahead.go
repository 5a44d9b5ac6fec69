package s3

import (
	"fmt"
	"io"
)

// aheadLeast is how long a body is that is read and sent at the same time: what is
// read is checked on the way, which takes as long as to send it.
const aheadLeast = 4 << 20

// aheadBuffer is the size of each of its two buffers: stores check several blocks
// of one faster than each alone.
const aheadBuffer = 128 << 10

// piece is what was read of a body, or why nothing was.
type piece struct {
	data []byte
	err  error
}

// copyAhead is copyBody that reads the next piece while it sends one. It returns
// once the body is read no more.
func (w *response) copyAhead(body io.Reader, n int64) error {
	free, full := make(chan []byte, 2), make(chan piece, 2)
	for range 2 {
		free <- make([]byte, aheadBuffer)
	}
	go readAhead(body, n, free, full)
	defer func() {
		close(free)
		for range full { // until it ends
		}
	}()
	for n > 0 {
		next := <-full
		if next.err != nil {
			return fmt.Errorf("reading the body, %d bytes before its end: %w", n, next.err)
		}
		if err := w.write(next.data); err != nil {
			return err
		}
		n -= int64(len(next.data))
		free <- next.data[:cap(next.data)]
	}
	return nil
}

// readAhead fills the buffers that come free, until n bytes are read, an error, or the
// end of free. It closes full.
func readAhead(body io.Reader, n int64, free <-chan []byte, full chan<- piece) {
	defer close(full)
	for buffer := range free {
		if n == 0 {
			return
		}
		data := buffer[:min(n, int64(len(buffer)))]
		_, err := io.ReadFull(body, data)
		full <- piece{data, err} // there is room for every buffer
		if err != nil {
			return
		}
		n -= int64(len(data))
	}
}

package chunk

import (
	"fmt"
	"io"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers the algorithm
)

// The sizes of chunks, in bytes. A payload's last chunk may be shorter than Min.
const (
	Min    = 256 << 10
	Normal = 1 << 20
	Max    = 4 << 20
)

// algorithm is the library's name for the FastCDC that uses the sizes it is
// given. Its plain "fastcdc" ignores Normal.
const algorithm = "fastcdc-v1.0.0"

// Cut returns the length of the next chunk of a payload; window has the bytes
// after the last cut. It returns 0 if that cannot be known without more bytes;
// with Max bytes it always can. final says that the payload ends with the
// window. Cut neither keeps nor changes the window, and may be called
// concurrently. It takes time in proportion to the chunk, so callers with small
// pieces should let some come together first: see [Worthwhile].
func Cut(window []byte, final bool) int {
	n := min(len(window), Max)
	if n <= Min {
		if final {
			return n
		}
		return 0
	}
	cut := search(window[:n])
	if cut == n && n < Max && !final {
		return 0 // the window's end alone is no cut
	}
	return cut
}

// Worthwhile is a window's size from which Cut nearly always finds a cut. Calling
// it with less means that most bytes are searched more than once.
const Worthwhile = Normal + Normal/2

// search has the library find the first cut in a window that is longer than Min.
// Its interface reads a stream into a buffer; we hand it the window as the buffer
// and a reader to which there is nothing left to do.
func search(window []byte) int {
	c, err := chunkers.NewChunkerBuffer(algorithm, inPlace(window), &chunkers.ChunkerOpts{
		// With a bound beyond the window the library would only ask for more.
		MinSize: Min, NormalSize: Normal, MaxSize: len(window),
	}, window)
	if err == nil {
		var found []byte
		if found, err = c.Next(); err == nil && len(found) >= Min && len(found) <= len(window) {
			return len(found)
		}
	}
	// Only another version of the library can end here, and its cuts would not
	// be ours: go.mod pins it, and the golden vectors fail first.
	panic(fmt.Sprintf("chunk: algorithm %s does not work as expected: %v", algorithm, err))
}

// inPlace is a reader of bytes that lie in the caller's buffer already.
type inPlace []byte

// Read implements io.Reader.
func (r inPlace) Read(p []byte) (int, error) {
	if len(p) != len(r) || &p[0] != &r[0] {
		return 0, io.ErrUnexpectedEOF
	}
	return len(r), io.EOF
}

package heap

import "fmt"

// ReadRaw fills p from the bytes at off of the chunk at a location, and checks
// nothing: it is for callers that check the bytes themselves. p must lie within
// the chunk. The error wraps ErrCorrupt when the file ends too early.
func (h *Heap) ReadRaw(loc Location, p []byte, off int64) error {
	if !loc.valid() || off < 0 || off > loc.Size || int64(len(p)) > loc.Size-off {
		return at(loc, fmt.Errorf("%w: bytes %d to %d lie outside", ErrCorrupt, off, off+int64(len(p))))
	}
	if err := h.readFull(p, loc.Offset+headerSize(loc.Size)+off); err != nil {
		return at(loc, cutOff(err))
	}
	return nil
}

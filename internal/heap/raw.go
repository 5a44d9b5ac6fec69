package heap

import "fmt"

// ReadRaw fills p from the bytes at off of the chunk at a location, and compares
// nothing with its digest: it is for callers who know what must be there, and
// look. p must lie within the chunk. The error wraps ErrCorrupt when the file ends
// too early, and when a compressed chunk cannot be restored.
func (h *Heap) ReadRaw(loc Location, p []byte, off int64) error {
	if !loc.valid() || off < 0 || off > loc.Size || int64(len(p)) > loc.Size-off {
		return at(loc, fmt.Errorf("%w: bytes %d to %d lie outside", ErrCorrupt, off, off+int64(len(p))))
	}
	if loc.packed() {
		head, err := h.readHeader(loc)
		if err != nil {
			return err
		}
		return h.readBlocks(head, loc, p, off)
	}
	if err := h.readFull(p, loc.body()+off); err != nil {
		return at(loc, cutOff(err))
	}
	return nil
}

package heap

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/stardustdb/stardust/internal/digest"
)

// Found is a record that Scan found.
type Found struct {
	Location Location
	Digest   digest.Digest
	// Whole says that the chunk's bytes match its digest.
	Whole bool
}

// scanWindow is how many bytes Scan looks through at a time.
const scanWindow = 1 << 20

// Scan searches the whole file for records, without a catalog, to save what is
// left of a file. It finds records in use, records that no catalog names and
// older ones in free space, in the order of the file. The error is that of the
// disk or of ctx, and ends the search.
func (h *Heap) Scan(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		window := make([]byte, scanWindow+headerFixed)
		for from := int64(0); ; {
			if err := ctx.Err(); err != nil {
				yield(Found{}, err)
				return
			}
			n, err := h.file.ReadAt(window, from)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Found{}, err)
				return
			}
			next := from + scanWindow
			for i := 0; i < scanWindow && i+headerFixed <= n; i += unit {
				found, err := h.scanAt(from+int64(i), window[i:n])
				if err != nil {
					yield(Found{}, err)
					return
				}
				if found == nil {
					continue
				}
				if !yield(*found, nil) {
					return
				}
				if found.Whole { // nothing else begins within it
					next = found.Location.Offset + found.Location.span()
					break
				}
			}
			if n < len(window) && next >= from+int64(n) {
				return
			}
			from = next
		}
	}
}

// scanAt returns the record that begins at off, or nil when none does.
func (h *Heap) scanAt(off int64, p []byte) (*Found, error) {
	size, packed, ok := peek(p)
	if !ok {
		return nil, nil
	}
	raw := make([]byte, headerSize(size, packed))
	if err := h.readFull(raw, off); err != nil {
		return nil, notTheEnd(err)
	}
	head, err := parseHeader(raw)
	if err != nil {
		return nil, nil // only looks like a record
	}
	found := &Found{Location: Location{off, size, head.stored()}, Digest: head.digest}
	_, err = h.loadChunk(found.Location, head.digest, make([]byte, head.stored()))
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return nil, err
	}
	found.Whole = err == nil
	return found, nil
}

// notTheEnd drops the error of a file that ends.
func notTheEnd(err error) error {
	if errors.Is(cutOff(err), ErrCorrupt) {
		return nil
	}
	return err
}

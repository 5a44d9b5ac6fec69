package heap

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/stardustdb/stardust/internal/digest"
)

// Read fills data, which must be of the chunk's size, and compares it with the
// digest. The error wraps ErrCorrupt when the record is not that chunk.
func (h *Heap) Read(loc Location, digest digest.Digest, data []byte) error {
	head, err := h.readRecord(loc, data)
	switch {
	case err != nil:
		return err
	case head.digest != digest || sha256.Sum256(data) != digest:
		return at(loc, fmt.Errorf("%w: it does not match its digest %x", ErrCorrupt, digest))
	}
	return nil
}

// readRecord reads a whole record. The blocks are not checked.
func (h *Heap) readRecord(loc Location, data []byte) (header, error) {
	if !loc.valid() || int64(len(data)) != loc.Size {
		return header{}, at(loc, fmt.Errorf("%w: no record can be like this (buffer of %d bytes)", ErrCorrupt, len(data)))
	}
	head := make([]byte, headerSize(loc.Size))
	if err := h.file.ReadPieces(loc.Offset, head, data); err != nil {
		return header{}, at(loc, cutOff(err))
	}
	found, err := decodeHeader(head, loc.Size)
	if err != nil {
		return header{}, at(loc, err)
	}
	return found, nil
}

// ReadAt fills p from the bytes at off of the chunk with the given digest. The
// record must name that digest before any of its checksums is trusted, so the
// record of another chunk there is damage. The blocks that p touches are
// compared with their checksums, which find accidents, not deceit: the chunk
// must have been read with Read before. p must lie within the chunk.
func (h *Heap) ReadAt(loc Location, digest digest.Digest, p []byte, off int64) error {
	if !loc.valid() || off < 0 || off > loc.Size || int64(len(p)) > loc.Size-off {
		return at(loc, fmt.Errorf("%w: bytes %d to %d lie outside", ErrCorrupt, off, off+int64(len(p))))
	}
	raw := make([]byte, headerSize(loc.Size))
	if err := h.readFull(raw, loc.Offset); err != nil {
		return at(loc, cutOff(err))
	}
	head, err := decodeHeader(raw, loc.Size)
	switch {
	case err != nil:
		return at(loc, err)
	case head.digest != digest:
		return at(loc, fmt.Errorf("%w: chunk %x lies there instead of %x", ErrCorrupt, head.digest, digest))
	}
	return head.readBlocks(h, loc, p, off)
}

// Probe checks whether a chunk's record seems whole, by its header and its last
// block. It costs less than Read and proves less.
func (h *Heap) Probe(loc Location, digest digest.Digest) error {
	last := max(0, loc.Size-1) / BlockSize * BlockSize
	return h.ReadAt(loc, digest, make([]byte, min(BlockSize, max(0, loc.Size-last))), last)
}

// readBlocks fills p from off. Blocks that p takes whole are read into it; the
// others go through a buffer.
func (d *header) readBlocks(h *Heap, loc Location, p []byte, off int64) error {
	var part []byte
	for len(p) > 0 {
		block := off / BlockSize
		begin := block * BlockSize
		size := min(BlockSize, loc.Size-begin)
		whole := off == begin && int64(len(p)) >= size
		target := part
		switch {
		case whole:
			target = p[:size]
		case part == nil:
			part = make([]byte, min(BlockSize, loc.Size))
			target = part[:size]
		default:
			target = part[:size]
		}
		if err := h.readFull(target, loc.Offset+headerSize(loc.Size)+begin); err != nil {
			return at(loc, cutOff(err))
		}
		if err := d.checkBlocks(target, int(block)); err != nil {
			return at(loc, err)
		}
		n := size
		if !whole {
			n = int64(copy(p, target[off-begin:]))
		}
		p = p[n:]
		off += n
	}
	return nil
}

// Equal reports whether a record holds exactly these bytes. A damaged record
// does not; the error is nil then.
func (h *Heap) Equal(loc Location, data []byte) (bool, error) {
	if int64(len(data)) != loc.Size || !loc.valid() {
		return false, nil
	}
	raw := make([]byte, headerSize(loc.Size))
	err := h.readFull(raw, loc.Offset)
	if err == nil {
		_, err = decodeHeader(raw, loc.Size)
	}
	piece := make([]byte, min(256<<10, len(data)))
	for begin := 0; err == nil && begin < len(data); begin += len(piece) {
		piece = piece[:min(len(piece), len(data)-begin)]
		err = h.readFull(piece, loc.Offset+int64(len(raw)+begin))
		if err == nil && !bytes.Equal(piece, data[begin:begin+len(piece)]) {
			return false, nil
		}
	}
	if err = cutOff(err); err != nil && !errors.Is(err, ErrCorrupt) {
		return false, at(loc, err)
	}
	return err == nil, nil
}

func (h *Heap) readFull(p []byte, off int64) error {
	n, err := h.file.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// cutOff says that a file which ends too early is damaged.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the file ends before it does", ErrCorrupt)
	}
	return err
}

func at(loc Location, err error) error {
	return fmt.Errorf("record of %d bytes at offset %d: %w", loc.Size, loc.Offset, err)
}

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
	if err := loc.check(data, loc.Size); err != nil {
		return err
	}
	if loc.packed() {
		return h.readPacked(loc, digest, data)
	}
	head, err := h.readHeader(loc, data)
	switch {
	case err != nil:
		return err
	case head.digest != digest || sha256.Sum256(data) != digest:
		return at(loc, mismatch(digest))
	}
	return nil
}

func (h *Heap) readPacked(loc Location, digest digest.Digest, data []byte) error {
	sum := sha256.New()
	err := h.walkPacked(loc, func(head *header) error {
		if head.digest != digest {
			return mismatch(digest)
		}
		return nil
	}, func(i int, size int64) []byte {
		begin := int64(i) * BlockSize
		return data[begin : begin+size]
	}, func(block []byte) error {
		sum.Write(block)
		return nil
	})
	if err != nil {
		return err
	}
	if [sha256.Size]byte(sum.Sum(nil)) != digest {
		return at(loc, mismatch(digest))
	}
	return nil
}

func mismatch(digest digest.Digest) error {
	return fmt.Errorf("%w: it does not match its digest %x", ErrCorrupt, digest)
}

// readHeader reads the header of the record at a location, and fills the pieces with
// what follows it.
func (h *Heap) readHeader(loc Location, pieces ...[]byte) (*header, error) {
	raw := make([]byte, headerSize(loc.Size, loc.packed()))
	if err := h.file.ReadPieces(loc.Offset, append([][]byte{raw}, pieces...)...); err != nil {
		return nil, at(loc, cutOff(err))
	}
	head, err := decodeHeader(raw, loc)
	if err != nil {
		return nil, at(loc, err)
	}
	return head, nil
}

// loadChunk reads a whole record, and its body into a buffer of that size, and compares
// the chunk with its digest.
func (h *Heap) loadChunk(loc Location, digest digest.Digest, body []byte) (*header, error) {
	if err := loc.check(body, loc.Stored); err != nil {
		return nil, err
	}
	head, err := h.readHeader(loc, body)
	if err != nil {
		return nil, err
	}
	got, err := h.unpacker.hash(head, body)
	switch {
	case err != nil:
		return nil, at(loc, err)
	case head.digest != digest || got != digest:
		return nil, at(loc, mismatch(digest))
	}
	return head, nil
}

// Copy compares a record with the chunk's digest and appends it to a heap, perhaps
// another one, as it is stored: see Append. The buffer must be of loc.Stored
// bytes. The error wraps ErrCorrupt when the record is not that chunk.
func (h *Heap) Copy(loc Location, digest digest.Digest, buffer []byte, to *Heap) (Location, error) {
	head, err := h.loadChunk(loc, digest, buffer)
	if err != nil {
		return Location{}, err
	}
	return to.write(head, buffer)
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
	head, err := h.readHeader(loc)
	switch {
	case err != nil:
		return err
	case head.digest != digest:
		return at(loc, fmt.Errorf("%w: chunk %x lies there instead of %x", ErrCorrupt, head.digest, digest))
	}
	return h.readBlocks(head, loc, p, off)
}

// Probe checks whether a chunk's record seems whole, by its header and its last
// block. It costs less than Read and proves less.
func (h *Heap) Probe(loc Location, digest digest.Digest) error {
	last := max(0, loc.Size-1) / BlockSize * BlockSize
	return h.ReadAt(loc, digest, make([]byte, min(BlockSize, max(0, loc.Size-last))), last)
}

// readBlocks fills p from off. Blocks that p takes whole are read into it; the
// others go through a buffer.
func (h *Heap) readBlocks(head *header, loc Location, p []byte, off int64) error {
	var part []byte
	for len(p) > 0 {
		block := int(off / BlockSize)
		begin, size := int64(block)*BlockSize, head.blockSize(block)
		whole := off == begin && int64(len(p)) >= size
		target := p
		if !whole {
			if part == nil {
				part = make([]byte, min(BlockSize, loc.Size))
			}
			target = part
		}
		target = target[:size]
		if err := h.readBlock(head, loc, block, target); err != nil {
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

// readBlock fills p with a block, and compares its checksum.
func (h *Heap) readBlock(head *header, loc Location, i int, p []byte) error {
	begin, end := head.place(i)
	if !loc.packed() {
		if err := h.readFull(p, loc.body()+begin); err != nil {
			return cutOff(err)
		}
		return head.checkBlock(i, p)
	}
	buffer := h.unpacker.pieces.Get().(*[pieceSize]byte)
	defer h.unpacker.pieces.Put(buffer)
	stored := buffer[:end-begin]
	if err := h.readFull(stored, loc.body()+begin); err != nil {
		return cutOff(err)
	}
	return h.unpacker.block(head, i, p, stored)
}

// errDiffers ends a comparison.
var errDiffers = errors.New("the bytes differ")

// Equal reports whether a record holds exactly these bytes. A damaged record
// does not; the error is nil then.
func (h *Heap) Equal(loc Location, data []byte) (bool, error) {
	if int64(len(data)) != loc.Size || !loc.valid() {
		return false, nil
	}
	err := h.compare(loc, data)
	if errors.Is(err, errDiffers) || errors.Is(err, ErrCorrupt) {
		return false, nil
	}
	return err == nil, err
}

func (h *Heap) compare(loc Location, data []byte) error {
	if loc.packed() {
		restored := make([]byte, min(BlockSize, len(data)))
		return h.walkPacked(loc, func(*header) error { return nil },
			func(_ int, size int64) []byte { return restored[:size] },
			func(block []byte) error {
				if !bytes.Equal(block, data[:len(block)]) {
					return errDiffers
				}
				data = data[len(block):]
				return nil
			})
	}
	if _, err := h.readHeader(loc); err != nil {
		return err
	}
	piece := make([]byte, min(256<<10, len(data)))
	for from := loc.body(); len(data) > 0; from += int64(len(piece)) {
		piece = piece[:min(len(piece), len(data))]
		if err := h.readFull(piece, from); err != nil {
			return at(loc, cutOff(err))
		}
		if !bytes.Equal(piece, data[:len(piece)]) {
			return errDiffers
		}
		data = data[len(piece):]
	}
	return nil
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

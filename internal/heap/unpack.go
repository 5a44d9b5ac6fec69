package heap

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/stardustdb/stardust/internal/digest"
)

// pieceSize is how much of a compressed record is read at a time: at least one
// block, since none is longer stored than it is.
const pieceSize = 2 * BlockSize

// unpacker restores blocks. It may be used concurrently.
type unpacker struct {
	decoder func() (*zstd.Decoder, error)
	pieces  sync.Pool // of *[pieceSize]byte
}

func newUnpacker() *unpacker {
	return &unpacker{
		decoder: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxMemory(BlockSize), zstd.WithDecodeAllCapLimit(true))
		}),
		pieces: sync.Pool{New: func() any { return new([pieceSize]byte) }},
	}
}

// block fills p, of a block's size, from the block as stored, whose checksum it
// compares. However long the frame claims to be, no more than that is written,
// and no memory taken for it.
func (u *unpacker) block(h *header, i int, p, stored []byte) error {
	if err := h.checkBlock(i, stored); err != nil {
		return err
	}
	if len(stored) == len(p) { // it did not get smaller
		copy(p, stored)
		return nil
	}
	d, err := u.decoder()
	if err != nil {
		return err
	}
	out, err := d.DecodeAll(stored, p[:0:len(p)])
	if err != nil {
		return fmt.Errorf("%w: block %d: %w", ErrCorrupt, i, err)
	}
	if len(out) != len(p) {
		return fmt.Errorf("%w: block %d: %d bytes come out of it, %d are expected", ErrCorrupt, i, len(out), len(p))
	}
	return nil
}

// walkPacked reads the blocks of a compressed record one after the other. The
// header is handed to check first. Each block is restored into what into returns,
// and then handed to use.
func (h *Heap) walkPacked(loc Location, check func(*header) error, into func(i int, size int64) []byte, use func(block []byte) error) error {
	buffer := h.unpacker.pieces.Get().(*[pieceSize]byte)
	defer h.unpacker.pieces.Put(buffer)
	piece, from := buffer[:min(pieceSize, loc.Stored)], int64(0)
	head, err := h.readHeader(loc, piece)
	if err != nil {
		return err
	}
	if err := check(head); err != nil {
		return at(loc, err)
	}
	for i := range head.sums {
		begin, end := head.place(i)
		if end-from > int64(len(piece)) {
			piece, from = buffer[:min(pieceSize, loc.Stored-begin)], begin
			if err := h.readFull(piece, loc.body()+from); err != nil {
				return at(loc, cutOff(err))
			}
		}
		block := into(i, head.blockSize(i))
		err := h.unpacker.block(head, i, block, piece[begin-from:end-from])
		if err == nil {
			err = use(block)
		}
		if err != nil {
			return at(loc, err)
		}
	}
	return nil
}

// hash returns the digest of the chunk in a record's body.
func (u *unpacker) hash(h *header, body []byte) (digest.Digest, error) {
	if h.ends == nil {
		for i := range h.sums {
			begin, end := h.place(i)
			if err := h.checkBlock(i, body[begin:end]); err != nil {
				return digest.Digest{}, err
			}
		}
		return sha256.Sum256(body), nil
	}
	sum := sha256.New()
	buffer := u.pieces.Get().(*[pieceSize]byte)
	defer u.pieces.Put(buffer)
	for i := range h.sums {
		begin, end := h.place(i)
		block := buffer[:h.blockSize(i)]
		if err := u.block(h, i, block, body[begin:end]); err != nil {
			return digest.Digest{}, err
		}
		sum.Write(block)
	}
	return digest.Digest(sum.Sum(nil)), nil
}

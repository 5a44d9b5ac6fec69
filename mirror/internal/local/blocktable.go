package local

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"sync/atomic"
)

// ErrNoChecksum says that a copy has no checksums to verify it by.
var ErrNoChecksum = errors.New("no checksums are known")

const (
	// pieceSize is what a small verified read reads and checks at least. The
	// checksums of pieces are in memory only: they are made from a block that
	// was checked whole.
	pieceSize = 4 << 10
	// maxFineBlocks bounds the blocks with checksums of their pieces: at 72
	// bytes each, they take up to 72 MiB, for 64 GiB that are read often.
	maxFineBlocks = 1 << 20
)

// BlockTable is what the open files of one local copy know about its blocks.
type BlockTable struct {
	load   sync.Once
	sums   []uint32 // of the blocks; nil when not known
	fine   []atomic.Pointer[pieceSums]
	budget *atomic.Int64
	made   atomic.Int64
}

// pieceSums are the checksums of a block's pieces.
type pieceSums [BlockSize / pieceSize]uint32

// fill sets the sums, once for all who open the copy at the same time.
func (t *BlockTable) fill(sums func() []uint32) {
	t.load.Do(func() {
		t.sums = sums()
		t.fine = make([]atomic.Pointer[pieceSums], len(t.sums))
	})
}

// drop gives the table's share of the budget back, when no file uses it.
func (t *BlockTable) drop() {
	t.budget.Add(-t.made.Swap(0))
}

// refine keeps the checksums of the pieces of a block that was checked.
func (t *BlockTable) refine(block int64, data []byte) {
	if t.budget.Load() >= maxFineBlocks {
		return
	}
	var fine pieceSums
	table := Castagnoli()
	for i := 0; len(data) > 0; i++ {
		n := min(pieceSize, len(data))
		fine[i] = crc32.Checksum(data[:n], table)
		data = data[n:]
	}
	if t.fine[block].CompareAndSwap(nil, &fine) {
		t.budget.Add(1)
		t.made.Add(1)
	}
}

// ReadChecked fills p from a block of an open copy, beginning at the block's
// byte from, and checks every byte that it returns: against the block's
// checksum, or for a small read that of the pieces, once they are known. An
// error means that the copy is damaged.
func (o *OpenFiles) ReadChecked(h *Handle, p []byte, block, from int64) error {
	t := h.table
	if block >= int64(len(t.sums)) {
		return ErrNoChecksum
	}
	begin := block * BlockSize
	length := min(BlockSize, h.Entry.Size-begin)
	lo, hi := int64(0), length
	fine := t.fine[block].Load()
	if int64(len(p)) == length {
		fine = nil // one sum is cheaper than many
	}
	if fine != nil {
		lo = from &^ (pieceSize - 1)
		hi = min((from+int64(len(p))+pieceSize-1)&^(pieceSize-1), length)
	}
	data := p
	if hi-lo > int64(len(p)) {
		buffer := o.Buffer()
		defer o.Buffers.Put(buffer)
		data = (*buffer)[:hi-lo]
	}
	if n, err := h.File.ReadAt(data, begin+lo); n < len(data) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if fine == nil {
		if crc := crc32.Checksum(data, Castagnoli()); crc != t.sums[block] {
			return fmt.Errorf("block %d has CRC32C %08x, not %08x", block, crc, t.sums[block])
		}
		if int64(len(p)) < length {
			t.refine(block, data)
		}
	} else if err := fine.check(data, lo); err != nil {
		return fmt.Errorf("block %d: %w", block, err)
	}
	if hi-lo > int64(len(p)) {
		copy(p, data[from-lo:])
	}
	return nil
}

// ReadWhole fills p with whole blocks of an open copy from a block on, with one read
// of the file, and checks each. It returns how many of p's bytes are of blocks that
// are whole and good, up to the first that isn't: ReadChecked tells what is wrong
// with that. The last block of the copy may be short.
func (o *OpenFiles) ReadWhole(h *Handle, p []byte, block int64) (good int64) {
	t := h.table
	p = p[:max(0, min(int64(len(p)), h.Entry.Size-block*BlockSize))]
	n, _ := h.File.ReadAt(p, block*BlockSize) // ReadChecked meets the error again
	for table := Castagnoli(); good < int64(n) && block < int64(len(t.sums)); block++ {
		length := min(BlockSize, h.Entry.Size-block*BlockSize)
		if good+length > int64(n) || crc32.Checksum(p[good:good+length], table) != t.sums[block] {
			break
		}
		good += length
	}
	return good
}

// check compares the pieces in data, which begins at the block's byte lo.
func (s *pieceSums) check(data []byte, lo int64) error {
	table := Castagnoli()
	for i := lo / pieceSize; len(data) > 0; i++ {
		n := min(pieceSize, len(data))
		if crc := crc32.Checksum(data[:n], table); crc != s[i] {
			return fmt.Errorf("piece %d has CRC32C %08x, not %08x", i, crc, s[i])
		}
		data = data[n:]
	}
	return nil
}

// Buffer returns a buffer of blockSize bytes, for Buffers.Put.
func (o *OpenFiles) Buffer() *[]byte {
	if b, ok := o.Buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, BlockSize)
	return &b
}

package heap

import (
	"github.com/klauspost/compress/zstd"

	"github.com/stardustdb/stardust/internal/digest"
)

const (
	// leastPacked is the size from which it is tried to compress a chunk.
	leastPacked = 128
	// A chunk larger than sampledFrom is not compressed when no sample of it gets
	// smaller: that costs a hundredth of trying it with all of it.
	sampledFrom = 16 << 10
	sampleSize  = 4 << 10
	// packSlack is how much longer than a block its frame may be.
	packSlack = 1 << 10
)

// worthwhile returns the most bytes that may be left of n to be worth the work
// of restoring them.
func worthwhile(n int) int { return n * 31 / 32 }

// PackerMemory is about how many bytes a packer takes besides its scratch memory,
// and the one of a reader that restores.
const PackerMemory = 5 << 18

// Compress makes Append compress, from now on, what gets smaller by it: up to
// packers chunks at the same time, each in up to scratch bytes of memory. What
// does not fit there is stored as it is. Call it before the first Append.
func (h *Heap) Compress(packers int, scratch int64) error {
	ready := make(chan *packer, packers)
	for range packers {
		e, err := zstd.NewWriter(nil,
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(BlockSize),
			zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true),
			zstd.WithAllLitEntropyCompression(true)) // numbers and base64 have few matches
		if err != nil {
			return err
		}
		ready <- &packer{encoder: e, limit: int(scratch)}
	}
	h.packers = ready
	return nil
}

// packer compresses one chunk at a time.
type packer struct {
	encoder *zstd.Encoder
	limit   int
	scratch []byte
}

// pack returns the header and the body of a compressed chunk, valid until the
// next call, or nil when it is to be stored as it is.
func (p *packer) pack(name digest.Digest, data []byte) (*header, []byte) {
	if !p.promising(data) {
		return nil, nil
	}
	out := p.buffer(len(data))
	n := blocks(int64(len(data)))
	h := &header{digest: name, size: int64(len(data)), sums: make([]uint32, 0, n), ends: make([]int64, 0, n)}
	for rest := data; len(rest) > 0; {
		block := rest[:min(BlockSize, len(rest))]
		rest = rest[len(block):]
		begin := len(out)
		if cap(out)-begin < len(block)+packSlack {
			return nil, nil
		}
		out = p.encoder.EncodeAll(block, out)
		if len(out)-begin > worthwhile(len(block)) {
			out = append(out[:begin], block...)
		}
		h.sums = append(h.sums, checksum(out[begin:]))
		h.ends = append(h.ends, int64(len(out)))
	}
	plain := Location{Size: h.size, Stored: h.size}
	if len(out) > worthwhile(len(data)) || (Location{Size: h.size, Stored: h.stored()}).span() >= plain.span() {
		return nil, nil
	}
	return h, out
}

// buffer returns scratch memory for a chunk of n bytes: a little, or all of it.
func (p *packer) buffer(n int) []byte {
	need := n + packSlack
	if need > BlockSize+packSlack {
		need = max(p.limit, BlockSize+packSlack)
	}
	if cap(p.scratch) < need {
		p.scratch = make([]byte, 0, need)
	}
	return p.scratch[:0]
}

// promising reports whether a chunk may get smaller.
func (p *packer) promising(data []byte) bool {
	if len(data) <= sampledFrom {
		return true
	}
	samples := 1
	if len(data) > 2*BlockSize {
		samples = 3
	}
	out := p.buffer(sampleSize)
	for i := range samples {
		at := (len(data) - sampleSize) / samples * i
		at += (len(data) - sampleSize) / samples / 2
		if len(p.encoder.EncodeAll(data[at:at+sampleSize], out)) <= worthwhile(sampleSize) {
			return true
		}
	}
	return false
}

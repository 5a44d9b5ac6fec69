package catalog

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// packedVersion begins a record in the log that is compressed.
	packedVersion = 2
	// leastPacked is the size from which a record is compressed: shorter ones do not
	// leave their page.
	leastPacked = 4 << 10
	// maxUnpacked bounds what is allocated for a record. The largest of ours, a commit
	// of 4096 nodes with names of 4096 bytes, has about 17 MB, and attributes.
	maxUnpacked = 256 << 20
)

// packer compresses records for the log, and restores them. It may be used
// concurrently; what it takes to do so is made when it is first needed.
type packer struct {
	encoder func() (*zstd.Encoder, error)
	decoder func() (*zstd.Decoder, error)
}

func newPacker() *packer {
	return &packer{
		encoder: sync.OnceValues(func() (*zstd.Encoder, error) {
			return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
				zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		}),
		decoder: sync.OnceValues(func() (*zstd.Decoder, error) {
			return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderLowmem(true))
		}),
	}
}

// packed returns a record as the log keeps it: compressed, but for the id and time
// at its beginning, when that is shorter.
func (p *packer) packed(record []byte) ([]byte, error) {
	if len(record) < leastPacked {
		return record, nil
	}
	encoder, err := p.encoder()
	if err != nil {
		return nil, fmt.Errorf("compress a record: %w", err)
	}
	head, rest := splitRecord(record)
	out := append([]byte{packedVersion}, head[1:]...)
	out = encoder.EncodeAll(rest, binary.AppendUvarint(out, uint64(len(rest))))
	if len(out) >= len(record) {
		return record, nil
	}
	return out, nil
}

// record returns the record that the log keeps. It may share memory with it.
func (p *packer) record(kept []byte) ([]byte, error) {
	if len(kept) == 0 || kept[0] != packedVersion {
		return kept, nil
	}
	head, rest := splitRecord(kept)
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > maxUnpacked {
		return nil, corrupt("malformed compressed transaction record")
	}
	decoder, err := p.decoder()
	if err != nil {
		return nil, fmt.Errorf("restore a record: %w", err)
	}
	out := append(make([]byte, 0, len(head)+min(int(size), 64*len(rest))), head...)
	out[0] = recordVersion
	out, err = decoder.DecodeAll(rest[n:], out)
	if err != nil || len(out)-len(head) != int(size) {
		return nil, corrupt("compressed transaction record: %d bytes of %d, %v", len(out)-len(head), size, err)
	}
	return out, nil
}

// splitRecord returns a record's version, id and time, and what follows. Of one that
// is not well-formed, what follows is empty.
func splitRecord(record []byte) (head, rest []byte) {
	d := recordDecoder{b: record}
	d.byte()
	d.uvarint()
	d.varint()
	if d.bad {
		return record, nil
	}
	return record[:len(record)-len(d.b)], d.b
}

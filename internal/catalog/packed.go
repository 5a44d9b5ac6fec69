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
	encoder, decoder sync.Once
	pack             *zstd.Encoder
	unpack           *zstd.Decoder
	failed           error
}

// packed returns a record as the log keeps it: compressed, but for the id and time
// at its beginning, when that is shorter.
func (p *packer) packed(record []byte) ([]byte, error) {
	if len(record) < leastPacked {
		return record, nil
	}
	p.encoder.Do(func() {
		p.pack, p.failed = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	})
	if p.pack == nil {
		return nil, fmt.Errorf("compress a record: %w", p.failed)
	}
	head, rest := splitRecord(record)
	out := append([]byte{packedVersion}, head[1:]...)
	out = p.pack.EncodeAll(rest, binary.AppendUvarint(out, uint64(len(rest))))
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
	p.decoder.Do(func() {
		var d *zstd.Decoder
		if d, p.failed = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderLowmem(true)); p.failed == nil {
			p.unpack = d
		}
	})
	if p.unpack == nil {
		return nil, fmt.Errorf("restore a record: %w", p.failed)
	}
	out := append(make([]byte, 0, len(head)+min(int(size), 64*len(rest))), head...)
	out[0] = recordVersion
	out, err := p.unpack.DecodeAll(rest[n:], out)
	if err != nil || len(out)-len(head) != int(size) {
		return nil, corrupt("compressed transaction record: %d bytes of %d, %v", len(out)-len(head), size, err)
	}
	return out, nil
}

// close ends what the packer has. It must not be used after.
func (p *packer) close() {
	if p.unpack != nil {
		p.unpack.Close()
	}
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

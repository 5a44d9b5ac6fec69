package batch

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"

	"github.com/stardustdb/stardust/internal/chunk"
	"github.com/stardustdb/stardust/internal/digest"
)

const (
	packMagic = "SDp\x01"
	// trailer is the footer's size, its CRC32C and the magic.
	trailer = 4 + 4 + len(packMagic)
)

// Pack is an object of chunks' bytes under construction. Its footer names them,
// so that all chunks can be found again by the packs alone.
type Pack struct {
	bytes  []byte
	footer []byte
	count  uint64
}

// Len returns how many bytes the pack has until now.
func (p *Pack) Len() int { return len(p.bytes) }

// Add appends a chunk and returns its place. The Pack's index is the caller's.
func (p *Pack) Add(d digest.Digest, data []byte, c *Compressor) Place {
	if len(p.bytes) == 0 {
		p.bytes = append(p.bytes, packMagic...)
	}
	place := Place{Offset: int64(len(p.bytes)), Codec: Zstd}
	p.bytes = c.append(p.bytes, data)
	// What hardly gets smaller is kept as it is, which makes reads cheaper.
	if place.Stored = int64(len(p.bytes)) - place.Offset; place.Stored > int64(len(data))*15/16 {
		p.bytes = append(p.bytes[:place.Offset], data...)
		place.Stored, place.Codec = int64(len(data)), Raw
	}
	p.count++
	p.footer = append(p.footer, d[:]...)
	p.footer = binary.AppendUvarint(p.footer, uint64(len(data)))
	p.footer = binary.AppendUvarint(p.footer, uint64(place.Offset))
	p.footer = binary.AppendUvarint(p.footer, uint64(place.Stored))
	p.footer = append(p.footer, byte(place.Codec))
	p.footer = binary.LittleEndian.AppendUint32(p.footer, crc(p.bytes[place.Offset:]))
	return place
}

// Finish returns the pack's bytes.
func (p *Pack) Finish() []byte {
	footer := append(binary.AppendUvarint(nil, p.count), p.footer...)
	out := append(p.bytes, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	out = binary.LittleEndian.AppendUint32(out, crc(footer))
	return append(out, packMagic...)
}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Listed is a chunk that a pack's footer names.
type Listed struct {
	Digest digest.Digest
	Size   int64
	Place  Place // Pack is zero
	CRC    uint32
}

// DecodePack returns what lies in a pack, whose stored bytes are compared with
// their checksums. Their digests are checked when they are opened.
func DecodePack(b []byte) ([]Listed, error) {
	if len(b) < len(packMagic)+trailer || string(b[:3]) != packMagic[:3] {
		return nil, corrupt("no pack")
	}
	if b[3] != packMagic[3] {
		return nil, ErrNewer
	}
	end := b[len(b)-trailer:]
	size := int64(binary.LittleEndian.Uint32(end))
	at := int64(len(b)-trailer) - size
	if string(end[8:]) != packMagic || at < int64(len(packMagic)) {
		return nil, corrupt("its end is missing")
	}
	footer := b[at : len(b)-trailer]
	if crc(footer) != binary.LittleEndian.Uint32(end[4:]) {
		return nil, corrupt("its footer does not match its checksum")
	}
	d := decoder{rest: footer}
	n := d.count()
	if n == 0 || n > len(footer)/40 {
		return nil, corrupt("malformed footer")
	}
	out := make([]Listed, 0, n)
	next := int64(len(packMagic))
	for i := 0; i < n && !d.bad; i++ {
		var l Listed
		d.digest(&l.Digest)
		l.Size, l.Place.Offset, l.Place.Stored = d.positive(), d.positive(), d.positive()
		l.Place.Codec = Codec(d.byte())
		l.CRC = binary.LittleEndian.Uint32(d.take(4))
		if d.bad || l.Place.Offset != next || l.Place.Stored > at-next || l.Place.Codec >= codecs {
			return nil, corrupt("malformed footer")
		}
		next += l.Place.Stored
		if crc(b[l.Place.Offset:next]) != l.CRC {
			return nil, corrupt("chunk %v does not match its checksum", l.Digest)
		}
		out = append(out, l)
	}
	if d.bad || len(d.rest) > 0 || next != at {
		return nil, corrupt("malformed footer")
	}
	return out, nil
}

// Compressor compresses and restores chunks. It may be used concurrently.
type Compressor struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// NewCompressor returns one. The caller closes it.
func NewCompressor() (*Compressor, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(2*chunk.Max))
	return &Compressor{e, d}, err
}

// Close frees what it holds.
func (c *Compressor) Close() {
	_ = c.encoder.Close() // it was used for whole chunks only
	c.decoder.Close()
}

func (c *Compressor) append(to, data []byte) []byte { return c.encoder.EncodeAll(data, to) }

// Open returns a chunk's bytes from those that a pack has. The result is stored
// itself, or lies in to when there is room.
func (c *Compressor) Open(to, stored []byte, codec Codec, size int64) ([]byte, error) {
	switch codec {
	case Raw:
		to = stored
	case Zstd:
		var err error
		if to, err = c.decoder.DecodeAll(stored, to[:0]); err != nil {
			return nil, corrupt("compressed chunk: %v", err)
		}
	default:
		return nil, ErrNewer
	}
	if int64(len(to)) != size {
		return nil, corrupt("a chunk of %d bytes, want %d", len(to), size)
	}
	return to, nil
}

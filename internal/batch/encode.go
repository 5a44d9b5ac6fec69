package batch

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/stardustdb/stardust/internal/replica"
)

const (
	batchMagic = "SDb\x01"
	fixedSize  = 4 + 1 + 16 + 8 + 32 + 16 + 16 + 8 + 24 + 24 + 96
)

// The kinds of entries. A batch has them in this order.
const (
	entryPack = iota + 1
	entryChunks
	entryPayload
	entryTransaction
	entryHorizon
)

// Encode returns the batch's bytes.
func (b *Batch) Encode() []byte {
	out := make([]byte, 0, fixedSize+sha256.Size+48*len(b.Rows.Chunks)+64*len(b.Rows.Payloads)+96*len(b.Rows.Records))
	out = append(out, batchMagic...)
	out = append(out, 0) // flags
	out = append(out, b.Identity[:]...)
	out = appendInt(out, b.Number)
	out = append(out, b.Previous[:]...)
	out = append(out, b.Writer[:]...)
	out = append(out, b.Nonce[:]...)
	out = appendInt(out, b.Time.UnixNano())
	out = appendPosition(out, b.Before)
	out = appendPosition(out, b.After)
	out = append(out, b.Tip.Record[:]...)
	out = append(out, b.Tip.Chunk[:]...)
	out = append(out, b.Tip.Payload[:]...)

	var entry []byte
	for _, p := range b.Packs {
		entry = append(entry[:0], p.Name[:]...)
		entry = binary.AppendUvarint(entry, uint64(p.Size))
		out = appendEntry(out, entryPack, entry)
	}
	if len(b.Rows.Chunks) > 0 {
		out = appendEntry(out, entryChunks, b.appendChunks(entry[:0]))
	}
	row := b.Before.Payload
	for i := range b.Rows.Payloads {
		p := &b.Rows.Payloads[i]
		out = appendEntry(out, entryPayload, appendPayload(entry[:0], p, row))
		row = p.Row
	}
	for _, r := range b.Rows.Records {
		out = appendEntry(out, entryTransaction, r.Bytes)
	}
	if b.Horizon > 0 {
		out = appendEntry(out, entryHorizon, binary.AppendUvarint(entry[:0], uint64(b.Horizon)))
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func (b *Batch) appendChunks(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(b.Rows.Chunks)))
	row := b.Before.Chunk
	for i, c := range b.Rows.Chunks {
		place := b.Places[i]
		out = binary.AppendUvarint(out, uint64(c.Row-row))
		row = c.Row
		out = append(out, c.Digest[:]...)
		out = binary.AppendUvarint(out, uint64(c.Size))
		out = binary.AppendUvarint(out, uint64(place.Pack))
		out = binary.AppendUvarint(out, uint64(place.Offset))
		out = binary.AppendUvarint(out, uint64(place.Stored))
		out = append(out, byte(place.Codec))
	}
	return out
}

func appendPayload(out []byte, p *replica.Payload, row int64) []byte {
	out = binary.AppendUvarint(out, uint64(p.Row-row))
	out = append(out, p.Digest[:]...)
	out = binary.AppendUvarint(out, uint64(p.Size))
	for _, e := range p.Entries {
		out = binary.AppendUvarint(out, uint64(e.Chunk))
		out = binary.AppendUvarint(out, uint64(e.Size))
	}
	return out
}

func appendEntry(out []byte, kind byte, entry []byte) []byte {
	out = append(out, kind)
	out = binary.AppendUvarint(out, uint64(len(entry)))
	return append(out, entry...)
}

func appendPosition(out []byte, p replica.Position) []byte {
	return appendInt(appendInt(appendInt(out, p.Transaction), p.Chunk), p.Payload)
}

func appendInt(out []byte, n int64) []byte { return binary.LittleEndian.AppendUint64(out, uint64(n)) }

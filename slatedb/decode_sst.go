package slatedb

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/stardustdb/stardust/slatedb/internal/fb"
)

// originalSSTFormat is the format of an SST whose metadata does not say one.
const originalSSTFormat = 1

// sstDecoder decodes SSTs with as few allocations as it can: a manifest may
// have tens of thousands, and every one of them has the same few parts.
type sstDecoder struct {
	id   fb.Ulid
	info fb.SsTableInfo
	rng  fb.BytesRange
	a, b fb.BytesBound
	slab []SST // room for SSTs that views point at
}

// slabSize is how many SSTs are allocated at a time.
const slabSize = 256

// keep returns a pointer to a copy of the SST.
func (d *sstDecoder) keep(sst SST) *SST {
	if len(d.slab) == cap(d.slab) {
		d.slab = make([]SST, 0, slabSize)
	}
	d.slab = append(d.slab, sst)
	return &d.slab[len(d.slab)-1]
}

func (d *sstDecoder) sst(t *fb.CompactedSsTable) SST {
	return SST{bytes16(t.Id(&d.id)), sstFormat(t.Table(), 3), infoOf(t.Info(&d.info))}
}

func (d *sstDecoder) sstV2(t *fb.CompactedSsTableV2) SST {
	return SST{bytes16(t.Id(&d.id)), sstFormat(t.Table(), 2), infoOf(t.Info(&d.info))}
}

// visible decodes a range; nil, nil for none.
func (d *sstDecoder) visible(r *fb.BytesRange) *KeyRange {
	if r == nil {
		return nil
	}
	return &KeyRange{boundOf(r.StartBound(&d.a)), boundOf(r.EndBound(&d.b))}
}

// sstFormat reads the field format_version, which has the given id. The
// generated accessor would allocate.
func sstFormat(t flatbuffers.Table, id flatbuffers.VOffsetT) uint16 {
	return t.GetUint16Slot(4+2*id, originalSSTFormat)
}

func infoOf(t *fb.SsTableInfo) SSTInfo {
	return SSTInfo{
		FirstEntry:   t.FirstEntryBytes(),
		LastEntry:    t.LastEntryBytes(),
		IndexOffset:  t.IndexOffset(),
		IndexLen:     t.IndexLen(),
		FilterOffset: t.FilterOffset(),
		FilterLen:    t.FilterLen(),
		Compression:  Compression(t.CompressionFormat()),
		Type:         SSTType(t.SstType()),
	}
}

func boundOf(t *fb.BytesBound) Bound {
	return Bound{BoundKind(t.BoundType()), t.KeyBytes()}
}

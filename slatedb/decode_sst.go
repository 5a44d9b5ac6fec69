package slatedb

import "github.com/stardustdb/stardust/slatedb/internal/fb"

// originalSSTFormat is the format of an SST whose metadata does not say one.
const originalSSTFormat = 1

// sstDecoder decodes SSTs with as few allocations as it can: a manifest may
// have tens of thousands, and every one of them has the same few parts.
type sstDecoder struct {
	id   fb.Ulid
	info fb.SsTableInfo
	rng  fb.BytesRange
	a, b fb.BytesBound
}

func (d *sstDecoder) sst(t *fb.CompactedSsTable) SST {
	return SST{bytes16(t.Id(&d.id)), sstFormat(t.FormatVersion()), infoOf(t.Info(&d.info))}
}

func (d *sstDecoder) sstV2(t *fb.CompactedSsTableV2) SST {
	return SST{bytes16(t.Id(&d.id)), sstFormat(t.FormatVersion()), infoOf(t.Info(&d.info))}
}

// visible decodes a range; nil, nil for none.
func (d *sstDecoder) visible(r *fb.BytesRange) *KeyRange {
	if r == nil {
		return nil
	}
	return &KeyRange{boundOf(r.StartBound(&d.a)), boundOf(r.EndBound(&d.b))}
}

func sstFormat(version *uint16) uint16 {
	if version == nil {
		return originalSSTFormat
	}
	return *version
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

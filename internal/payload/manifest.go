package payload

import "github.com/stardustdb/stardust/internal/catalog"

// Run returns the chunks of the run of a payload's manifest that begins at an
// offset, and where it ends in the payload.
func Run(v *catalog.View, p *catalog.Payload, offset int64) (chunks []catalog.Chunk, end int64, err error) {
	segment, err := v.Segment(p, offset)
	if err != nil {
		return nil, 0, err
	}
	if segment.Start != offset {
		return nil, 0, fail(ErrDamaged, "manifest of payload %v: runs overlap at byte %d", p.Digest, offset)
	}
	chunks = make([]catalog.Chunk, len(segment.Entries))
	for i, e := range segment.Entries {
		if chunks[i], err = v.Chunk(e.Chunk); err != nil {
			return nil, 0, err
		}
		if chunks[i].Size != e.Size {
			return nil, 0, span{row: e.Chunk, size: e.Size}.wrongSize(chunks[i].Size)
		}
	}
	return chunks, segment.End(), nil
}

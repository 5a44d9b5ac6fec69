package catalog

// Tx is a View of the live state that also writes. It belongs to the one writer
// and is valid only within the call that received it.
type Tx struct {
	View
}

// PutPayload publishes a payload whose manifest has the given entries, and
// sets its ID, Chunks and Chunk.
func (t *Tx) PutPayload(p *Payload, entries func(yield func(Entry) bool)) error {
	id, err := t.nextRow(kindPayload, `SELECT max(id) FROM payload`)
	if err != nil {
		return err
	}
	p.ID = id
	return t.putPayload(p, entries)
}

// putPayload adds a payload's row and manifest under its ID.
func (t *Tx) putPayload(p *Payload, entries func(yield func(Entry) bool)) error {
	p.Chunks, p.Chunk = 0, 0
	segment := Segment{Entries: make([]Entry, 0, 16)}
	var only Entry
	for e := range entries {
		if len(segment.Entries) == segmentEntries {
			if err := t.putSegment(p.ID, &segment); err != nil {
				return err
			}
			segment.Start, segment.Entries = segment.End(), segment.Entries[:0]
		}
		segment.Entries = append(segment.Entries, e)
		p.Chunks++
		only = e
	}
	var chunk any
	if p.Chunks == 1 {
		p.Chunk, chunk = only.Chunk, only.Chunk
	} else if err := t.putSegment(p.ID, &segment); err != nil {
		return err
	}
	return t.conn.exec(`INSERT INTO payload(id, digest, size, chunks, chunk, crc) VALUES(?, ?, ?, ?, ?, ?)`,
		p.ID, p.Digest[:], p.Size, p.Chunks, chunk, p.sum().sum())
}

func (t *Tx) putSegment(payload int64, s *Segment) error {
	if len(s.Entries) == 0 {
		return nil
	}
	entries := encodeEntries(nil, s.Entries)
	return t.conn.exec(`INSERT INTO manifest(payload, start, entries, crc) VALUES(?, ?, ?, ?)`,
		payload, s.Start, entries, segmentSum(payload, s.Start, entries).sum())
}

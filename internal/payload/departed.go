package payload

import (
	"maps"
	"sync"

	"github.com/stardustdb/stardust/internal/catalog"
)

// departed has the catalog's rows of payloads that were forgotten while readers
// had them open. The bytes stay in the file until it is opened again, so these
// readers go on; the rows are dropped when the last of them closes.
type departed struct {
	mu       sync.Mutex
	readers  map[int64]int               // by payload row
	segments map[int64][]catalog.Segment // by payload row, in order
	chunks   map[int64]catalog.Chunk     // by row
}

func (d *departed) enter(payload int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readers == nil {
		d.readers = make(map[int64]int)
	}
	d.readers[payload]++
}

func (d *departed) leave(payload int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readers[payload]--; d.readers[payload] > 0 {
		return
	}
	delete(d.readers, payload)
	delete(d.segments, payload)
	if len(d.segments) == 0 {
		d.chunks = nil
	}
}

// isOpen reports whether somebody reads a payload.
func (d *departed) isOpen(payload int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.readers[payload] > 0
}

// Departing reports whether a reader still needs a payload that was forgotten.
func (s *Store) Departing() bool {
	s.departed.mu.Lock()
	defer s.departed.mu.Unlock()
	return len(s.departed.segments) > 0
}

// segment returns the run of a departed payload that holds a byte, or nil.
func (d *departed) segment(payload, offset int64) *catalog.Segment {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.segments[payload] {
		if s := &d.segments[payload][i]; offset < s.End() {
			return s
		}
	}
	return nil
}

// chunk returns the row of a chunk of a departed payload.
func (d *departed) chunk(row int64) (catalog.Chunk, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.chunks[row]
	return c, ok
}

// Depart is called before a commit that removes payloads, with the view that it
// has: readers that have one of them open go on, also after it.
func (s *Store) Depart(v *catalog.View, payloads []catalog.Payload) error {
	for i := range payloads {
		p := &payloads[i]
		if !s.departed.isOpen(p.ID) {
			continue
		}
		var segments []catalog.Segment
		chunks := make(map[int64]catalog.Chunk)
		for at := int64(0); at < p.Size; {
			segment, err := v.Segment(p, at)
			if err != nil {
				return err
			}
			for _, e := range segment.Entries {
				if chunks[e.Chunk], err = v.Chunk(e.Chunk); err != nil {
					return err
				}
			}
			segments = append(segments, *segment)
			at = segment.End()
		}
		s.departed.keep(p.ID, segments, chunks)
	}
	return nil
}

func (d *departed) keep(payload int64, segments []catalog.Segment, chunks map[int64]catalog.Chunk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readers[payload] == 0 {
		return // closed meanwhile
	}
	if d.segments == nil {
		d.segments = make(map[int64][]catalog.Segment)
	}
	if d.chunks == nil {
		d.chunks = make(map[int64]catalog.Chunk)
	}
	d.segments[payload] = segments
	maps.Copy(d.chunks, chunks)
}

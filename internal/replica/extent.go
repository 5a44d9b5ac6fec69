package replica

import (
	"context"
	"fmt"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Extent returns how far the payloads and chunks reach that transactions name.
// Transaction is the last one's id.
func (d *DB) Extent(ctx context.Context, records []Record) (end Position, err error) {
	err = d.read(ctx, func(v *catalog.View) error {
		for i := range records {
			t, err := catalog.DecodeRecord(records[i].Bytes)
			if err != nil {
				return err
			}
			end.Transaction = t.ID
			for j := range t.Facts {
				if value := &t.Facts[j].Value; value.Kind == catalog.DigestValue {
					if err := extend(v, &end, value); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return end, err
}

// extend makes an extent reach the payload that a fact names.
func extend(v *catalog.View, end *Position, value *catalog.Value) error {
	row, found, err := v.Payload(value.Digest)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: payload %v, which a transaction names, is not published", catalog.ErrCorrupt, value.Digest)
	}
	p := Payload{Row: row.ID, Size: row.Size}
	if err := fillEntries(v, &p); err != nil {
		return err
	}
	end.Payload = max(end.Payload, p.Row)
	for _, e := range p.Entries {
		end.Chunk = max(end.Chunk, e.Chunk)
	}
	return nil
}

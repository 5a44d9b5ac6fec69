package dbstore

import (
	"context"
	"encoding/json"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	// attributeCORS keeps the CORS configuration of a bucket with its directory.
	attributeCORS = "object-store/cors"
	opCORS        = "CORS of a bucket"
)

// loadCORS returns what saveCORS kept, nil for nothing.
func (b *buckets) loadCORS(ctx context.Context, name string) ([]byte, error) {
	s := newStore(b.db, name, &b.times, b.now)
	tree, err := s.tree(ctx)
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	record, err := tree.Resolve(name)
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	d, err := tree.Attributes(record.Entity)
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	text, err := d.JSON()
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	var kept struct {
		CORS string `json:"object-store/cors"`
	}
	if json.Unmarshal(text, &kept) != nil || kept.CORS == "" {
		return nil, nil // or another program's attribute of another form
	}
	return []byte(kept.CORS), nil
}

// saveCORS keeps the configuration, or none.
func (b *buckets) saveCORS(ctx context.Context, name string, document []byte) error {
	s := newStore(b.db, name, &b.times, b.now)
	tree, err := s.tree(ctx)
	if err != nil {
		return s.fail(opCORS, "", err)
	}
	record, err := tree.Resolve(name)
	if err != nil {
		return s.fail(opCORS, "", err)
	}
	var value any
	if document != nil {
		value = string(document)
	}
	text, err := json.Marshal(map[string]any{attributeCORS: value})
	if err != nil {
		return err
	}
	patch, err := stardust.Parse(text, stardust.JSON)
	if err == nil {
		_, err = b.db.PatchContext(ctx, record.Entity, patch, 0)
	}
	return s.fail(opCORS, objectstore.Path(""), err)
}

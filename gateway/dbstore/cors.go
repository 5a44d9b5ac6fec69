package dbstore

import (
	"context"
	"encoding/json"

	"github.com/stardustdb/stardust"
)

const (
	// attributeCORS keeps the CORS configuration of a bucket with its directory.
	attributeCORS = "object-store/cors"
	opCORS        = "CORS of a bucket"
)

// loadCORS returns what saveCORS kept, nil for nothing.
func (b *buckets) loadCORS(ctx context.Context, name string) ([]byte, error) {
	s := newStore(b.db, name, &b.times, b.now)
	tree := b.db.Tree().WithContext(ctx)
	directory, err := s.root(tree)
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	value, _, err := attribute(tree, directory, attributeCORS)
	if err != nil {
		return nil, s.fail(opCORS, "", err)
	}
	text, ok := value.Text()
	if !ok || text == "" {
		return nil, nil // or another program's attribute of another form
	}
	return []byte(text), nil
}

// saveCORS keeps the configuration, or none.
func (b *buckets) saveCORS(ctx context.Context, name string, document []byte) error {
	s := newStore(b.db, name, &b.times, b.now)
	directory, err := s.root(b.db.Tree().WithContext(ctx))
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
		_, err = b.db.PatchContext(ctx, directory, patch, 0)
	}
	return s.fail(opCORS, "", err)
}

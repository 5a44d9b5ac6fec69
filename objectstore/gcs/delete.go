package gcs

import (
	"context"
	"net/http"

	"github.com/stardustdb/stardust/objectstore"
)

// Delete implements objectstore.Store. It returns ErrNotFound when there was no
// object.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	err := check(ctx, path)
	if err == nil {
		err = s.remove(ctx, string(path))
	}
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	return nil
}

func (s *Store) remove(ctx context.Context, name string) error {
	return s.call(ctx, http.MethodDelete, s.objectURL(objectstore.Path(name)), nil, nil, nil)
}

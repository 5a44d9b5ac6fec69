package azure

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/stardustdb/stardust/objectstore"
)

// Delete implements objectstore.Store. An object's snapshots go with it. It
// returns ErrNotFound when there was no object.
func (s *Store) Delete(ctx context.Context, path objectstore.Path) error {
	err := check(ctx, path)
	if err == nil {
		err = s.remove(ctx, path)
	}
	if err != nil {
		return s.fail(objectstore.OpDelete, path, err)
	}
	return nil
}

func (s *Store) remove(ctx context.Context, path objectstore.Path) error {
	snapshots := blob.DeleteSnapshotsOptionTypeInclude
	_, err := s.blob(path).Delete(ctx, &blob.DeleteOptions{DeleteSnapshots: &snapshots})
	return err
}

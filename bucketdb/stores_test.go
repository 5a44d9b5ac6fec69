package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stardustdb/stardust/internal/azuretest"
	"github.com/stardustdb/stardust/internal/gcstest"
	"github.com/stardustdb/stardust/internal/s3test"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/azure"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/gcs"
	"github.com/stardustdb/stardust/objectstore/prefix"
	"github.com/stardustdb/stardust/objectstore/retry"
	"github.com/stardustdb/stardust/objectstore/s3"
)

// TestEveryStoreHoldsADatabase pushes to each kind of store, real servers among
// them, from two replicas at once, and clones what came of it.
func TestEveryStoreHoldsADatabase(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (objectstore.Store, error){
		"file": func(t *testing.T) (objectstore.Store, error) { return file.Open(fastDir(t), nil) },
		"s3": func(t *testing.T) (objectstore.Store, error) {
			server := s3test.Start(t, nil)
			return s3.New(t.Context(), s3.Options{
				Bucket: server.Bucket(t, "bucket"), Endpoint: server.Endpoint,
				AccessKeyID: s3test.AccessKey, SecretAccessKey: s3test.SecretKey,
			})
		},
		"gcs": func(t *testing.T) (objectstore.Store, error) {
			server := gcstest.Start(t)
			return gcs.New(t.Context(), gcs.Options{Bucket: server.Bucket(t, "bucket"), Endpoint: server.Endpoint, Anonymous: true})
		},
		"azure": func(t *testing.T) (objectstore.Store, error) {
			server := azuretest.Start(t)
			return azure.New(azure.Options{
				Container: server.Container(t, "container"), Account: azuretest.Account, Key: azuretest.Key, Endpoint: server.Endpoint,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			store := prefix.New(retry.New(plain, retry.Options{MaxRetries: 3}), "some/prefix")
			db := newDB(t)
			fill(t, db)
			mustPush(t, db, store)
			other := mustClone(t, store)
			mustEqual(t, db, other)
			put(t, db, "one", noise(3, 400<<10))
			put(t, other, "other", noise(4, 400<<10))
			errs := make(chan error, 2)
			go func() { _, err := Push(context.Background(), db, store, small()); errs <- err }()
			go func() { _, err := Push(context.Background(), other, store, small()); errs <- err }()
			var won int
			for range 2 {
				switch err := <-errs; {
				case err == nil:
					won++
				case !errors.Is(err, ErrBehind) && !errors.Is(err, ErrDiverged):
					t.Error(err)
				}
			}
			winner := mustClone(t, store)
			_, asDB := Push(t.Context(), db, store, nil)
			_, asOther := Push(t.Context(), other, store, nil)
			switch {
			case won != 1 || (asDB == nil) == (asOther == nil):
				t.Errorf("%d of two that pushed at once succeeded; again: %v, %v", won, asDB, asOther)
			case asDB == nil:
				mustEqual(t, db, winner)
			default:
				mustEqual(t, other, winner)
			}
			if _, err := Push(t.Context(), db, prefix.New(store, "another"), nil); err != nil {
				t.Error(fmt.Errorf("to a second place: %w", err))
			}
		})
	}
}

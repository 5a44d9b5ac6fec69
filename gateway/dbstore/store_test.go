package dbstore_test

import (
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/dbstore"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func openDB(t *testing.T) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(filepath.Join(t.TempDir(), "db"), &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func makeBucket(t *testing.T, db *stardust.DB, name string) {
	t.Helper()
	if _, err := db.Tree().Create(stardust.NewNode{Name: name}); err != nil {
		t.Fatal(err)
	}
}

func TestStoreKeepsThePromisesOfEveryStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		db := openDB(t)
		makeBucket(t, db, "bucket")
		return dbstore.New(db, "bucket")
	}, storetest.Features{NoNesting: true, LooseKeyPaths: true})
}

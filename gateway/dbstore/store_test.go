package dbstore_test

import (
	"path/filepath"
	"testing"
	"time"

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

func TestUploadsInProgressHaveTheTimesOfTheClock(t *testing.T) {
	db := openDB(t)
	makeBucket(t, db, "bucket")
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := dbstore.New(db, "bucket", &dbstore.Options{Now: func() time.Time { return now }})
	id, err := s.CreateMultipart(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.UploadPart(t.Context(), "a", id, 1, objectstore.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	for part, err := range s.ListParts(t.Context(), "a", id) {
		if err != nil || !part.LastModified.Equal(now) {
			t.Errorf("part of %v, %v", part.LastModified, err)
		}
	}
	for upload, err := range s.ListMultiparts(t.Context(), "") {
		if err != nil || !upload.Initiated.Equal(now) {
			t.Errorf("upload of %v, %v", upload.Initiated, err)
		}
	}
}

func TestStoreKeepsThePromisesOfEveryStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		db := openDB(t)
		makeBucket(t, db, "bucket")
		return dbstore.New(db, "bucket", nil)
	}, storetest.Features{NoNesting: true, LooseKeyPaths: true})
}

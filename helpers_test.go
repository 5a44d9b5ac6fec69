package stardust_test

import (
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust"
)

// withObjects are options that enable the objects plugin.
func withObjects() *stardust.Options {
	return &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}}
}

// open returns a new database with the objects plugin, closed with the test.
func open(t testing.TB) *stardust.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "test.stardust"), withObjects())
}

func openAt(t testing.TB, path string, options *stardust.Options) *stardust.DB {
	t.Helper()
	db, err := stardust.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // a test may have closed it
	return db
}

package file_test

import (
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// open returns a store in dir that is closed with the test.
func open(t *testing.T, dir string, options *file.Options) *file.Store {
	t.Helper()
	s, err := file.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestStoreConforms(t *testing.T) {
	for name, options := range map[string]file.Options{
		"synced": {}, "not synced": {NoSync: true}, "minimum part size": {NoSync: true, MinPartSize: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) objectstore.Store { return open(t, t.TempDir(), &options) }, storetest.Features{
				NoKeyPaths: true, Folders: true, NoNesting: true, MaxSegment: 255, MinPartSize: options.MinPartSize,
			})
		})
	}
}

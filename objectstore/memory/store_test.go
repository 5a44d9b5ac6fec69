package memory_test

import (
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

func TestStoreConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store { return memory.New(nil) }, storetest.Features{})
}

func TestMinPartSizeHolds(t *testing.T) {
	storetest.Run(t, func(*testing.T) objectstore.Store {
		return memory.New(&memory.Options{MinPartSize: 2000})
	}, storetest.Features{MinPartSize: 2000, ListKeys: 10})
}

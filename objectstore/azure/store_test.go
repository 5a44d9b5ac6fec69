package azure_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/internal/azuretest"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/azure"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// open returns the store in a new container of an emulator.
func open(t *testing.T, server *azuretest.Server, name string) *azure.Store {
	t.Helper()
	s, err := azure.New(azure.Options{
		Container: server.Container(t, name), Account: azuretest.Account, Key: azuretest.Key, Endpoint: server.Endpoint,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreConforms(t *testing.T) {
	server := azuretest.Start(t)
	var containers atomic.Int64
	storetest.Run(t, func(t *testing.T) objectstore.Store {
		return open(t, server, fmt.Sprintf("container-%d", containers.Add(1)))
	}, storetest.Features{LooseKeyPaths: true, NoDotPaths: true, NoBackslash: true})
}

package mirror_test

import (
	"context"
	"testing"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/memory"
)

func TestMirrorEvictReturnsWhenTheCopiesAreGone(t *testing.T) {
	ctx := context.Background()
	m, err := mirror.Open(ctx, t.TempDir(), memory.New(nil), &mirror.KeepAll{WithoutWarming: true}, &mirror.Options{WithoutRemoteScan: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, path := range []objectstore.Path{"a", "b"} {
		if _, err := m.Put(ctx, path, objectstore.Bytes([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := m.Evict(ctx, "a", "missing")
	if err != nil || removed != 1 || m.Handle().Contains("a") || !m.Handle().Contains("b") {
		t.Errorf("removed %d, %v", removed, err)
	}
	if _, err := objectstore.Head(ctx, m.Handle().Remote(), "a"); err != nil {
		t.Errorf("the remote object is gone, too: %v", err)
	}
}

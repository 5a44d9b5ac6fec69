package slatedb_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// A SlateDB with direct access opens a database of which an SST is missing.
func TestAMissingSSTDoesNotHideTheManifestWhereThatIsTolerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		remote := newRemote()
		putSSTs(t, remote, 1, 3)
		putManifest(t, remote, l0(1, 1, 2, 3))
		strict := newNode(t, remote, plainPolicy())
		if err := strict.readManifest(1); err == nil {
			t.Error("RFC 0034 wants every SST before the manifest, unless told otherwise")
		}

		n := newNode(t, remote, slatedb.NewPolicy(&slatedb.PolicyOptions{
			Root: new(objectstore.Path("db")), WithoutCompactionsPoll: true, TolerateLostSSTs: true,
		}))
		n.mustRead(1)
		n.requireLocal(map[byte]bool{1: true, 3: true})
		equal(t, "the missing SST is local", n.Handle().Contains(sstPath("db", 2)), false)
		if err := n.readSST(sstPath("db", 1), compactedTag); err != nil {
			t.Error(err)
		}
		asked := remote.getsOf(sstPath("db", 2))
		_, err := n.Get(t.Context(), sstPath("db", 2), &objectstore.GetOptions{Extensions: tagged(compactedTag)})
		if !errors.Is(err, objectstore.ErrNotFound) {
			t.Errorf("the missing SST is answered with %v", err)
		}
		equal(t, "requests for a read of the missing SST", remote.getsOf(sstPath("db", 2))-asked, 1)

		// It comes back: the next manifest brings it home, without waiting.
		putSSTs(t, remote, 2)
		result, err := n.Get(t.Context(), sstPath("db", 2), &objectstore.GetOptions{Extensions: tagged(compactedTag)})
		if err != nil {
			t.Fatal(err)
		}
		_ = result.Body.Close()
		putManifest(t, remote, l0(2, 1, 2, 3))
		n.mustRead(2)
		synctest.Wait()
		n.requireLocal(map[byte]bool{1: true, 2: true, 3: true})
	})
}

package bucketdb

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// TestALongLogIsReadAheadAndAppliedInGroups clones a log of more batches than one
// group has. The first GET of a batch is not answered before the next is asked for.
func TestALongLogIsReadAheadAndAppliedInGroups(t *testing.T) {
	store := newStore()
	db := newDB(t)
	const pushes = groupBatches + 10
	for i := range pushes {
		put(t, db, "file", fmt.Appendf(nil, "version %d", i))
		mustPush(t, db, store)
	}
	second := make(chan struct{})
	var gets atomic.Int64
	var reading atomic.Bool
	slow := storetest.Faulty(store, storetest.FaultyOptions{Script: func(op string, path objectstore.Path) storetest.Fault {
		if op == objectstore.OpHead || !strings.HasPrefix(path.String(), logPrefix) {
			return storetest.Fault{}
		}
		if path == logPath(1) {
			reading.Store(true)
			<-second // a reader that waits for this one waits for ever
		} else if reading.Load() && gets.Add(1) == 1 {
			close(second)
		}
		return storetest.Fault{}
	}})
	b, err := open(t.Context(), slow)
	if err != nil {
		t.Fatal(err)
	}
	next := int64(1)
	for l, err := range b.batches(t.Context(), 1, pushes) {
		if err != nil || l.Number != next {
			t.Fatalf("batch %d: %v", next, err)
		}
		if next++; next == 5 {
			break // the others end with the loop
		}
	}
	clone := mustClone(t, store)
	mustEqual(t, db, clone)
}

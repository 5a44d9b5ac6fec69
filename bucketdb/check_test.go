package bucketdb

import (
	"errors"
	"strings"
	"testing"

	"github.com/stardustdb/stardust/objectstore"
)

// TestCheckComparesBundlesWithTheLog and names one that is damaged or has other batches.
func TestCheckComparesBundlesWithTheLog(t *testing.T) {
	_, store := longLog(t, 9)
	_, foreign := longLog(t, 9)
	paths := pathsUnder(t, store, bundlePrefix)
	read := func(store objectstore.Store, path objectstore.Path) []byte {
		data, _, err := objectstore.ReadAll(t.Context(), store, path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for what, data := range map[string][]byte{
		"whole": read(store, paths[0]), "another": read(store, paths[1]), "foreign": read(foreign, paths[0]),
	} {
		if _, err := store.Put(t.Context(), paths[0], objectstore.Bytes(data), nil); err != nil {
			t.Fatal(err)
		}
		r, err := Check(t.Context(), store, &CheckOptions{Read: true})
		if err != nil || r.Bundles != 2 || (r.Damaged == 0) != (what == "whole") ||
			r.Damaged > 0 && !strings.Contains(r.Problems[0].Error(), paths[0].String()) {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
		if r, err := Check(t.Context(), store, nil); err != nil || r.Damaged != 0 {
			t.Errorf("%s, without reading: %+v, %v", what, r, err)
		}
	}
}

// TestCheckFindsWhateverIsWrong deletes, cuts and alters each object of a bucket in
// turn: a check that reads names it, and one that does not names what is missing or
// of another size. Packs that nothing names are counted, and are no damage.
func TestCheckFindsWhateverIsWrong(t *testing.T) {
	store := newStore()
	db := newDB(t)
	fill(t, db)
	mustPush(t, db, store)
	if _, err := store.Put(t.Context(), packPrefix+"01ARZ3NDEKTSV4RRFFQ69G5FAV", objectstore.Bytes([]byte("cut off")), nil); err != nil {
		t.Fatal(err)
	}
	_, rows := rowsOf(t, db)
	for _, read := range []bool{false, true} {
		r, err := Check(t.Context(), store, &CheckOptions{Read: read})
		if err != nil || r.Damaged != 0 || r.Unnamed != 1 || r.Chunks != int64(len(rows.Chunks)) ||
			r.Payloads != int64(len(rows.Payloads)) || r.Transactions != int64(len(rows.Records)) {
			t.Fatalf("of what is whole: %+v, %v", r, err)
		}
	}
	var paths []objectstore.Path
	for meta, err := range store.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if meta.Path != genesisPath && !strings.HasSuffix(meta.Path.String(), "FAV") {
			paths = append(paths, meta.Path)
		}
	}
	last := paths[0]
	for _, path := range paths {
		if strings.HasPrefix(path.String(), logPrefix) {
			last = path
		}
	}
	for _, path := range paths {
		whole, _, err := objectstore.ReadAll(t.Context(), store, path)
		if err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func() []byte{
			"missing": func() []byte { return nil },
			"cut":     func() []byte { return whole[:len(whole)-1] },
			"altered": func() []byte {
				b := append([]byte(nil), whole...)
				b[len(b)/2] ^= 4
				return b
			},
		} {
			if what == "missing" && path == last {
				continue // as if it had not been pushed
			}
			if err := store.Delete(t.Context(), path); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
				t.Fatal(err)
			}
			if b := change(); b != nil {
				if _, err := store.Put(t.Context(), path, objectstore.Bytes(b), nil); err != nil {
					t.Fatal(err)
				}
			}
			var told []error
			r, err := Check(t.Context(), store, &CheckOptions{Read: true, Problem: func(err error) { told = append(told, err) }})
			if err != nil || r.Damaged == 0 || len(told) != int(r.Damaged) || !strings.Contains(told[0].Error(), path.String()) {
				t.Errorf("%s %s: %+v, %v", path, what, r, err)
			}
			if r, err := Check(t.Context(), store, nil); err != nil || r.Damaged == 0 && (what != "altered" || strings.HasPrefix(path.String(), logPrefix)) {
				t.Errorf("%s %s, without reading: %+v, %v", path, what, r, err)
			}
		}
		if _, err := store.Put(t.Context(), path, objectstore.Bytes(whole), nil); err != nil {
			t.Fatal(err)
		}
	}
}

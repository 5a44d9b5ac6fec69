package stardust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust"
)

// TestHugeDirectoriesListInBoundedMemory lists a directory of a million nodes
// when STARDUST_LONG is set, otherwise of some thousands.
func TestHugeDirectoriesListInBoundedMemory(t *testing.T) {
	batches := 4
	if stardust.LongTests() {
		batches = 1_000_000/stardust.MaxNodes + 1
	}
	db := openFast(t, withObjects())
	for batch := range batches {
		var text strings.Builder
		text.WriteByte('[')
		for i := range stardust.MaxNodes {
			text.WriteString("{name node-" + itoa(int64(batch*stardust.MaxNodes+i)) + "} ")
		}
		create(t, db, text.String()+"]")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, last := 0, ""
	for r, err := range db.Tree().Children(0) {
		if err != nil || r.Name <= last {
			t.Fatalf("%q after %q, %v", r.Name, last, err)
		}
		n, last = n+1, r.Name
	}
	runtime.ReadMemStats(&after)
	if n != batches*stardust.MaxNodes {
		t.Errorf("listed %d nodes of %d", n, batches*stardust.MaxNodes)
	}
	if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
		t.Errorf("listing took %d bytes of memory", grown)
	}
}

// A listing shows one revision, whatever is written while it goes on.
func TestAListingShowsOneRevision(t *testing.T) {
	db := openFast(t, withObjects())
	var text strings.Builder
	for i := range 1500 { // three pages
		text.WriteString("{name n" + itoa(int64(10_000+i)) + "} ")
	}
	create(t, db, "["+text.String()+"]")
	n := 0
	for r, err := range db.Tree().Children(0) {
		if err != nil {
			t.Fatal(err)
		}
		if n%500 == 0 {
			if err := db.Objects().Remove(r.Entity+600, 0); n < 900 && err != nil {
				t.Fatal(err)
			}
			create(t, db, "[{name zz"+itoa(int64(n))+"} {name n1x"+itoa(int64(n))+"}]")
		}
		n++
	}
	if n != 1500 {
		t.Errorf("listed %d nodes, want the 1500 of the beginning", n)
	}
}

func TestTwoSpellingsOfOneNameAreTwoFilesToTheEnd(t *testing.T) {
	db := openFast(t, withObjects())
	from := fstest.MapFS{"\u00e9": {Data: []byte("composed")}, "e\u0301": {Data: []byte("decomposed")}}
	report, err := db.Tree().Import(t.Context(), from, 0, nil)
	if err != nil || report.Created != 2 || report.Failed != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	dir := t.TempDir()
	report, err = db.Tree().Export(t.Context(), 0, dir, nil)
	if err != nil || report.Created+report.Failed != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if report.Failed > 0 {
		t.Skip("this file system folds names, and the export said so")
	}
	for name, file := range from {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(file.Data) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

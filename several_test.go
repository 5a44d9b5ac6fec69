package stardust_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// A directory goes with everything in it in one commit, or not at all.
func TestRemoveAllIsOneCommit(t *testing.T) {
	db := open(t)
	tree := db.Tree()
	digest := upload(t, db, []byte("x"))
	nodes := []stardust.NewNode{{Name: "top"}, {Name: "other"}}
	for i := range 100 {
		nodes = append(nodes, stardust.NewNode{Name: fmt.Sprintf("dir%d", i), Under: 1}, stardust.NewNode{Name: "file", Under: len(nodes) + 1, Digest: &digest})
	}
	made, err := tree.Create(nodes...)
	if err != nil {
		t.Fatal(err)
	}
	before := made[0].Revision
	if err := tree.RemoveAll(made[1].Entity, 1_000_000); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("one of them is not there: %v", err)
	}
	if _, err := tree.Get(made[1].Entity); err != nil {
		t.Errorf("a refused removal removed: %v", err)
	}
	// What lies in another may be named, too, before it or after it.
	if err := tree.RemoveAll(made[3].Entity, made[0].Entity, made[2].Entity); err != nil {
		t.Fatal(err)
	}
	for child, err := range tree.Children(0) {
		if err != nil || child.Name != "other" {
			t.Errorf("left: %+v, %v", child, err)
		}
	}
	for _, record := range made[2:] {
		if _, err := tree.Get(record.Entity); !errors.Is(err, stardust.StatusNotFound) {
			t.Fatalf("entity %d: %v", record.Entity, err)
		}
	}
	commits := 0
	for transaction, err := range db.Transactions(before + 1) {
		if err != nil {
			t.Fatal(err)
		}
		if commits++; transaction.ID != before+1 {
			t.Errorf("a commit %d", transaction.ID)
		}
	}
	if commits != 1 {
		t.Errorf("%d commits", commits)
	}
	past, err := db.AsOf(before)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := past.Tree().Resolve("top/dir99/file"); err != nil || got.Digest != digest {
		t.Errorf("the past: %+v, %v", got, err)
	}
	if report, err := db.Check(t.Context(), nil); err != nil || len(report.Problems) != 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

func TestMoveIntoIsOneCommitOrNothing(t *testing.T) {
	db := open(t)
	tree := db.Tree()
	put := func(path string) stardust.Record {
		t.Helper()
		record, err := tree.Put(path, strings.NewReader(path), &stardust.PutOptions{Parents: true})
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	one, two := put("a/one"), put("a/two")
	same, taken := put("b/one"), put("to/taken")
	clash := put("a/taken")
	to, err := tree.Resolve("to")
	if err != nil {
		t.Fatal(err)
	}
	a, err := tree.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Move(to.Entity, a.Entity, "to", 0, false); err != nil {
		t.Fatal(err)
	}
	for what, entities := range map[string][]int64{
		"two of one name":       {one.Entity, same.Entity},
		"a name that is taken":  {two.Entity, clash.Entity},
		"a node that is gone":   {two.Entity, 1_000_000},
		"what it lies in":       {two.Entity, a.Entity},
		"the directory by name": {two.Entity, to.Entity},
	} {
		if err := tree.MoveInto(to.Entity, entities...); err == nil {
			t.Errorf("%s: moved", what)
		}
		if got, err := tree.Get(two.Entity); err != nil || got.Parent != a.Entity {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	if err := tree.MoveInto(to.Entity, one.Entity, two.Entity, one.Entity); err != nil {
		t.Fatal(err)
	}
	first, err1 := tree.Resolve("a/to/one")
	second, err2 := tree.Resolve("a/to/two")
	if err := errors.Join(err1, err2); err != nil || first.Revision != second.Revision {
		t.Errorf("moved: %+v, %+v, %v", first, second, err)
	}
	if got, err := tree.Get(taken.Entity); err != nil || got.Parent != to.Entity {
		t.Errorf("what was there: %+v, %v", got, err)
	}
}

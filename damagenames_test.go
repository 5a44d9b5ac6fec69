package stardust_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestDamageOfAPageIsNamed flips a bit of each page in turn: who comes across it
// learns which page of which file it is, and where.
func TestDamageOfAPageIsNamed(t *testing.T) {
	db, _, path := aging(t)
	var nodes []stardust.NewNode
	for i := range 300 {
		nodes = append(nodes, stardust.NewNode{Name: fmt.Sprintf("%0100d", i)})
	}
	if _, err := db.Tree().Create(nodes...); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for at := 12288; at+4096 <= len(whole); at += 4096 {
		damaged := slices.Clone(whole)
		damaged[at+300] ^= 4
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := stardust.Open(path, readOnly())
		if err == nil {
			for _, err = range db.Tree().Children(0) {
				if err != nil {
					break
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if err == nil {
			continue
		}
		place := fmt.Sprintf("at offset %d of %s does not match its checksum", at, path)
		if !errors.Is(err, stardust.StatusEvaluationFailed) || !strings.Contains(err.Error(), place) {
			t.Errorf("page at %d: %v", at, err)
		}
		named++
	}
	if named < 10 {
		t.Errorf("%d pages were come across", named)
	}
}

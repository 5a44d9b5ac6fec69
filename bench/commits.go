package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
)

// commits compares the rate of small durable commits by one caller with that of
// 32 callers, who share the disk's flushes.
func commits(b *bench) error {
	path := filepath.Join(b.dir, "commits.stardust")
	db, err := openDB(path)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer db.Close()
	var ratios, one, many []float64
	for round := range b.rounds {
		alone, err := commitRate(db, 1, fmt.Sprintf("one-%d", round))
		if err != nil {
			return err
		}
		together, err := commitRate(db, 32, fmt.Sprintf("many-%d", round))
		if err != nil {
			return err
		}
		ratios = append(ratios, together/alone)
		one, many = append(one, alone), append(many, together)
	}
	b.add(row{
		what: "durable commits of 32 callers, of one caller", ratio: median(ratios), bar: 8,
		details: fmt.Sprintf("%.0f and %.0f a second", median(many), median(one)),
	})
	return nil
}

// commitRate makes directories, one a commit, for a second.
func commitRate(db *stardust.DB, callers int, name string) (float64, error) {
	var group errgroup.Group
	counts := make([]int, callers)
	start := time.Now()
	for caller := range callers {
		group.Go(func() error {
			for i := 0; time.Since(start) < time.Second; i++ {
				node := stardust.NewNode{Name: fmt.Sprintf("%s-%d-%d", name, caller, i)}
				if _, err := db.Tree().Create(node); err != nil {
					return err
				}
				counts[caller]++
			}
			return nil
		})
	}
	err := group.Wait()
	took, total := time.Since(start), 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / took.Seconds(), err
}

package bucketdb

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stardustdb/stardust/internal/batch"
	"github.com/stardustdb/stardust/internal/invariants"
)

// simulate runs the schedule of a seed.
func simulate(t *testing.T, seed int, compressor *batch.Compressor, keep bool) (w *world) {
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, seed, compressor)
		t.Cleanup(w.killAll)
		w.keep = keep
		w.run()
	})
	return w
}

// schedules returns how many schedules to run, and the first.
func schedules() (count, first int) {
	count, first = 1000, 1
	if testing.Short() || invariants.Enabled {
		count = 100
	}
	if n, err := strconv.Atoi(os.Getenv("STARDUST_SCHEDULES")); err == nil {
		count = n
	}
	if n, err := strconv.Atoi(os.Getenv("STARDUST_SEED")); err == nil {
		count, first = 1, n
	}
	return count, first
}

// TestSimulation runs seeded schedules: 1,000 of them, 100 in short tests and under
// the race detector, 10,000 with STARDUST_LONG=1, as many as STARDUST_SCHEDULES says,
// or the one that STARDUST_SEED names, whose trace it prints when it fails.
func TestSimulation(t *testing.T) {
	count, first := schedules()
	if os.Getenv("STARDUST_LONG") != "" {
		count = 10000
	}
	compressor, err := batch.NewCompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer compressor.Close()
	totals := make(map[string]int)
	for seed := first; seed < first+count; seed++ {
		w := simulate(t, seed, compressor, count == 1)
		if t.Failed() {
			t.Fatalf("seed %d; STARDUST_SEED=%d prints what happened", seed, seed)
		}
		totals["writes"] += w.writes
		totals["pushes that succeeded"] += w.acknowledged
		totals["unknown outcomes"] += w.unknown
		totals["packs collected"] += w.collected
		totals["bundles"] += w.bundles
		totals["batches"] += len(w.oracle.bytes)
	}
	t.Logf("%d schedules:", count)
	for _, what := range slices.Sorted(maps.Keys(totals)) {
		t.Logf("%d %s", totals[what], what)
	}
}

// TestASeedRepeats runs schedules twice and compares what happened.
func TestASeedRepeats(t *testing.T) {
	compressor, err := batch.NewCompressor()
	if err != nil {
		t.Fatal(err)
	}
	defer compressor.Close()
	for seed := 1; seed <= 30; seed++ {
		one := simulate(t, seed, compressor, true)
		two := simulate(t, seed, compressor, true)
		if t.Failed() {
			return
		}
		for i := range min(len(one.trace), len(two.trace)) {
			if one.trace[i] != two.trace[i] {
				t.Fatalf("seed %d, line %d:\n%s\n%s", seed, i, one.trace[i], two.trace[i])
			}
		}
		if one.sum != two.sum {
			t.Fatalf("seed %d: one run was longer", seed)
		}
	}
}

// Command bench measures Stardust against the limits of the machine and against
// its peers, in one run, and prints ratios: absolute figures depend on the
// machine and its mood.
//
//	go run ./bench                  the database
//	go run ./bench -only upload     one case
//	go run ./bench -only mirror     all that have the word in their name
//	go run ./bench -size 256MiB     less data, for a quick look
//
// restic, borg, versitygw (make deps) and SlateDB (make deps, Node.js) take part
// when they are installed. Run it in the root of the source tree.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == childFlag {
		if err := runChild(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run: its settings, and the rows of the table so far.
type bench struct {
	ctx    context.Context //nolint:containedctx // the run itself
	dir    string
	size   int64
	rounds int
	// objects is how many the case of a mirror's start has.
	objects int
	rows    []row
}

// row is a line of the table.
type row struct {
	what    string
	ratio   float64
	bar     float64
	atMost  bool // the bar is an upper one
	details string
}

func (r row) met() string {
	switch {
	case r.bar == 0:
		return ""
	case r.atMost == (r.ratio <= r.bar):
		return "met"
	}
	return "MISSED"
}

func run() error {
	size := flag.String("size", "1GiB", "bytes of payload in the large cases")
	only := flag.String("only", "", "run the cases whose name contains this")
	dir := flag.String("dir", "", "a directory on the disk to measure (default: a temporary one)")
	rounds := flag.Int("rounds", 3, "rounds of each case; the median ratio counts")
	objects := flag.Int("objects", 100_000, "objects of the case that opens a mirror's directory")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the run to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{ctx: ctx, rounds: *rounds, objects: *objects}
	var err error
	if b.size, err = parseSize(*size); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(*dir, "stardust-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for _, c := range cases() {
		if !strings.Contains(c.name, *only) {
			continue
		}
		start := time.Now()
		if err := c.run(b); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %.1f s\n", c.name, time.Since(start).Seconds())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(b.rows) == 0 {
		return errors.New("no case has that name")
	}
	return b.print()
}

func (b *bench) add(r row) { b.rows = append(b.rows, r) }

func (b *bench) print() error {
	fmt.Printf("%s/%s, %d cores, %s of data, %d rounds\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), bytesText(b.size), b.rounds)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tratio\tbar\t\tfigures")
	for _, r := range b.rows {
		bar := ""
		if r.bar != 0 {
			bar = fmt.Sprintf("≥ %.3g", r.bar)
			if r.atMost {
				bar = fmt.Sprintf("≤ %.3g", r.bar)
			}
		}
		fmt.Fprintf(w, "%s\t%.2f\t%s\t%s\t%s\n", r.what, r.ratio, bar, r.met(), r.details)
	}
	return w.Flush()
}

// benchCase is one group of rows.
type benchCase struct {
	name string
	run  func(*bench) error
}

func cases() []benchCase {
	return append([]benchCase{
		{"upload", upload},
		{"read", read},
		{"import", importTree},
		{"lookup", lookup},
		{"commit", commits},
		{"memory", memory},
		{"mirror-read", mirrorRead},
		{"mirror-fetch", mirrorFetch},
		{"mirror-put", mirrorPut},
		{"mirror-build", mirrorBuild},
		{"endpoint", endpoint},
		{"slatedb-reads", slateReads},
		{"slatedb-writes", slateWrites},
		{"slatedb-observe", slateObserve},
	}, mountCases()...)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what a piece of work took.
type cost struct {
	wall, cpu time.Duration
}

// timed runs fn and returns its cost; CPU time is the whole process's.
func timed(fn func() error) (cost, error) {
	before, start := processCPU(), time.Now()
	err := fn()
	return cost{time.Since(start), processCPU() - before}, err
}

func processCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// timedCommand runs a program and returns its cost. Its output is shown only
// when it fails.
func timedCommand(cmd *exec.Cmd) (cost, error) {
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return cost{time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// median of values; it sorts them.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// rate in MB/s.
func rate(size int64, d time.Duration) float64 {
	return float64(size) / 1e6 / d.Seconds()
}

// random returns bytes that no chunker finds twice.
func random(seed byte, size int64) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data)
	return data
}

// randomReader yields such bytes without end.
func randomReader(seed byte, size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{seed}), size)
}

func parseSize(s string) (int64, error) {
	for suffix, unit := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(s, suffix); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err == nil && n > 0 {
				return n * unit, nil
			}
		}
	}
	return 0, fmt.Errorf("size %q: want a number and KiB, MiB or GiB", s)
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.4g KiB", float64(n)/(1<<10))
}

// dropFile removes a file so that the next round does not pay for it.
func dropFile(path string) error {
	err := os.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

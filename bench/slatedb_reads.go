package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
)

const (
	slateRows  = 20_000
	slateValue = 400 // bytes of a value
	// scanRows is how many rows one scan reads: a direct one waits for every
	// block of them.
	scanRows = 1000
	// slateReaders: direct, through the sidecar, from files, from net/http.
	slateReaders = 4
)

// slateReads compares reads of a real SlateDB without a block cache: direct to
// an upstream far away, through a sidecar in front of the same upstream, from
// local files, and from net/http's file server, which shows what the way over
// HTTP costs alone.
func slateReads(b *bench) error {
	if !nodeInstalled() {
		return nil
	}
	upstream, err := b.openUpstream()
	if err != nil {
		return err
	}
	defer upstream.close()
	if err := b.loadSlate(upstream); err != nil {
		return err
	}
	files := filepath.Join(b.dir, "slatedb-files")
	local, err := file.Open(files, nil)
	if err != nil {
		return err
	}
	defer local.Close()
	// Each reader gets a database of its own, the same but for its name: one
	// SlateDB opened on another's database fences it off.
	for _, copied := range []struct {
		to   objectstore.Store
		root string
	}{{upstream.store, "direct/"}, {upstream.store, "mirrored/"}, {local, "file/"}, {local, "bare/"}} {
		if err := copyDatabase(b.ctx, upstream.store, "loaded/", copied.to, copied.root); err != nil {
			return err
		}
	}
	sidecarURL, closeSidecar, err := b.openSidecar(upstream, "mirrored")
	if err != nil {
		return err
	}
	defer closeSidecar() //nolint:errcheck // measured, not kept

	bareURL, closeBare, err := b.serveBare(local, files)
	if err != nil {
		return err
	}
	defer closeBare()

	readers := make([]*nodeWorker, slateReaders)
	for i, of := range []struct{ endpoint, url, root string }{
		{upstream.url, "s3://" + slowBucket, "direct"},
		{sidecarURL, "s3://" + benchBucket, "mirrored"},
		{"", "file://" + files, "file"},
		{bareURL, "s3://" + benchBucket, "bare"},
	} {
		if readers[i], err = b.startNode(of.endpoint); err != nil {
			return err
		}
		defer readers[i].stop()
		_, err := readers[i].do("open", nodeArgs{"url": of.url, "path": of.root, "cache": false, "changes": nodeArgs{
			"compactor_options": nil, "garbage_collector_options": nil, "manifest_poll_interval": "60s",
		}})
		if err != nil {
			return err
		}
	}
	gets, err := b.slateRounds(func(reader, round int) ([]float64, error) { return slateGets(readers[reader], reader, round) })
	if err != nil {
		return err
	}
	scans, err := b.slateRounds(func(reader, _ int) ([]float64, error) { return slateScan(readers[reader]) })
	if err != nil {
		return err
	}
	b.addSlateRows("point get", gets, 10)
	b.addSlateRows(fmt.Sprintf("scan of %d rows", scanRows), scans, 5)
	return nil
}

func (b *bench) addSlateRows(what string, ms [slateReaders][]float64, bar float64) {
	faster, files := median(ratios(ms[0], ms[1])), median(ratios(ms[1], ms[2]))
	bare := median(ratios(ms[1], ms[3]))
	details := fmt.Sprintf("p50 of %.2f ms direct, %.2f sidecar, %.2f files, %.2f net/http", median(ms[0]), median(ms[1]), median(ms[2]), median(ms[3]))
	b.add(row{what: "SlateDB, " + what + ": sidecar times as fast as direct", ratio: faster, bar: bar, details: details})
	b.add(row{what: "SlateDB, " + what + ": sidecar, time of files", ratio: files, bar: 1.5, atMost: true, details: details})
	b.add(row{what: "SlateDB, " + what + ": sidecar, time of net/http", ratio: bare, details: details})
}

// slateRounds has the readers take turns and returns the median
// milliseconds of each in each round.
func (b *bench) slateRounds(read func(reader, round int) ([]float64, error)) (ms [slateReaders][]float64, err error) {
	for round := range b.rounds {
		for reader := range ms {
			micros, err := read(reader, round)
			if err != nil {
				return ms, err
			}
			ms[reader] = append(ms[reader], median(micros)/1e3)
		}
	}
	return ms, nil
}

// slateGets gets random keys; few from far away, which take long.
func slateGets(w *nodeWorker, reader, round int) ([]float64, error) {
	count := 300
	if reader == 0 {
		count = 20
	}
	source := rand.New(rand.NewPCG(uint64(round), 3))
	keys := make([]int, count)
	for i := range keys {
		keys[i] = source.IntN(slateRows)
	}
	got, err := w.do("get", nodeArgs{"keys": keys, "generation": 1, "size": slateValue})
	if err == nil && len(got.Bad) > 0 {
		err = fmt.Errorf("wrong values of the keys %v", got.Bad)
	}
	return got.Micros, err
}

func slateScan(w *nodeWorker) ([]float64, error) {
	got, err := w.do("scan", nodeArgs{"generation": 1, "size": slateValue, "limit": scanRows})
	if err == nil && (got.Count != scanRows || len(got.Bad) > 0) {
		err = fmt.Errorf("a scan gave %d rows, want %d; wrong: %v", got.Count, scanRows, got.Bad)
	}
	return got.Micros, err
}

// loadSlate writes the database "loaded" and has it compacted.
func (b *bench) loadSlate(upstream *slateUpstream) error {
	w, err := b.startNode(upstream.url)
	if err != nil {
		return err
	}
	defer w.stop()
	open := nodeArgs{"url": "s3://" + fastBucket, "path": "loaded", "cache": false, "changes": slateSettings(1 << 20)}
	if _, err := w.do("open", open); err != nil {
		return err
	}
	if _, err := w.do("put", nodeArgs{"from": 0, "to": slateRows, "generation": 1, "size": slateValue}); err != nil {
		return err
	}
	if _, err := w.do("flush", nil); err != nil {
		return err
	}
	if err := upstream.waitForRuns(b.ctx, "loaded"); err != nil {
		return err
	}
	_, err = w.do("shutdown", nil)
	return err
}

// copyDatabase copies the objects under a prefix.
func copyDatabase(ctx context.Context, from objectstore.Store, prefix string, to objectstore.Store, newPrefix string) error {
	for object, err := range from.List(ctx, &objectstore.ListOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		data, _, err := objectstore.ReadAll(ctx, from, object.Path)
		if err != nil {
			return err
		}
		path := objectstore.Path(newPrefix + strings.TrimPrefix(string(object.Path), prefix))
		if _, err := to.Put(ctx, path, objectstore.Bytes(data), nil); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/stardustdb/stardust/objectstore"
)

// slateWrites compares how long a real SlateDB takes to put rows, flush them and
// compact them: direct to the upstream far away, and through a sidecar.
func slateWrites(b *bench) error {
	if !nodeInstalled() {
		return nil
	}
	upstream, err := b.openUpstream()
	if err != nil {
		return err
	}
	defer upstream.close()
	databases := 0
	took, err := turns(b.ctx, b.rounds,
		b.slateWriter(upstream, &databases, false), b.slateWriter(upstream, &databases, true))
	if err != nil {
		return err
	}
	ratio := median(ratios(took[1].wall, took[0].wall))
	b.add(row{
		what: "SlateDB, put, flush and compact through the sidecar, time of direct", ratio: ratio, bar: 1.1, atMost: true,
		details: fmt.Sprintf("%.2f and %.2f s", median(took[1].wall), median(took[0].wall)),
	})
	return nil
}

// slateWriter writes a database of its own each time.
func (b *bench) slateWriter(upstream *slateUpstream, databases *int, mirrored bool) step {
	const rows, value = 20_000, 200
	var w *nodeWorker
	var root objectstore.Path
	closeSidecar := func() error { return nil }
	return step{
		before: func() (err error) {
			*databases++
			root = objectstore.Path(fmt.Sprintf("written-%d", *databases))
			url, bucket := upstream.url, slowBucket
			if mirrored {
				bucket = benchBucket
				if url, closeSidecar, err = b.openSidecar(upstream, root); err != nil {
					return err
				}
			}
			if w, err = b.startNode(url); err != nil {
				return err
			}
			_, err = w.do("open", nodeArgs{"url": "s3://" + bucket, "path": string(root), "cache": false, "changes": slateSettings(64 << 10)})
			return err
		},
		work: func() error {
			if _, err := w.do("put", nodeArgs{"from": 0, "to": rows, "generation": 1, "size": value}); err != nil {
				return err
			}
			if _, err := w.do("flush", nil); err != nil {
				return err
			}
			return upstream.waitForRuns(b.ctx, root)
		},
		after: func() error {
			_, err := w.do("shutdown", nil)
			w.stop()
			if closed := closeSidecar(); err == nil {
				err = closed
			}
			if gone := os.RemoveAll(filepath.Join(b.dir, "sidecar-"+string(root))); err == nil {
				err = gone
			}
			return err
		},
	}
}

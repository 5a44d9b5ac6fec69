package bucketdb

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/file"
	"github.com/stardustdb/stardust/objectstore/storetest"
)

// BenchmarkCloneOfALongLog clones a log of 20,000 batches of one commit each from a
// directory, with bundles and without, beside a store that takes 20 ms for a request.
func BenchmarkCloneOfALongLog(b *testing.B) {
	const batches = 20000
	store, err := file.Open(fastDir(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	db := newDB(b)
	put(b, db, "0", nil)
	if _, err := Push(b.Context(), db, store, nil); err != nil {
		b.Fatal(err)
	}
	for i := 1; i < batches; i++ {
		put(b, db, fmt.Sprintf("%d", i%1000), fmt.Appendf(nil, "version %d", i%47))
	}
	p := &pusher{db: rowsOfFile(db), options: (*PushOptions)(nil).normal(), report: new(Report)}
	if p.bucket, err = open(b.Context(), store); err != nil {
		b.Fatal(err)
	}
	if p.last, err = p.bucket.head(b.Context()); err != nil {
		b.Fatal(err)
	}
	_, rows := rowsOf(b, db)
	at := p.last.After
	for _, r := range rows.Records[1:] {
		end, err := db.Replica().Extent(b.Context(), []replica.Record{r})
		if err != nil {
			b.Fatal(err)
		}
		p.goal = farther(at, end)
		if at, err = p.batch(b.Context(), at); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	if err := p.bucket.bundle(b.Context(), p.last.Number); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d batches; bundles written in %v", p.last.Number, time.Since(start))
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		for name, sizes := range map[string][]int64{"bundles": nil, "log": {1 << 40}} {
			b.Run(fmt.Sprintf("%s/%v", name, delay), func(b *testing.B) {
				var requests atomic.Int64
				slow := storetest.Faulty(store, storetest.FaultyOptions{Script: func(string, objectstore.Path) storetest.Fault {
					requests.Add(1)
					return storetest.Fault{Delay: delay}
				}})
				for b.Loop() {
					if _, err := Clone(b.Context(), slow, filepath.Join(fastDir(b), "clone"), &PullOptions{sizes: sizes}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(requests.Load())/float64(b.N), "requests/op")
			})
		}
	}
}

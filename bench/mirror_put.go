package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/throttle"
)

// mirrorPut compares a write through the mirror with the slower of its halves,
// on versitygw over loopback, where both halves want the same cores, and on a
// remote that one waits for.
func mirrorPut(b *bench) error {
	const latency = 50 * time.Millisecond
	slow := throttle.New(memstore.New(nil), throttle.Options{Latency: latency})
	if err := b.putRounds(fmt.Sprintf("a remote of %v", latency), slow); err != nil {
		return err
	}
	server, err := b.startVersitygw()
	if server == nil || err != nil {
		return err
	}
	defer server.stop()
	store, err := server.store(b.ctx)
	if err != nil {
		return err
	}
	return b.putRounds("versitygw", store)
}

func (b *bench) putRounds(name string, remote objectstore.Store) error {
	const size = 16 << 20
	m, err := b.openMirror("put", remote, localPolicy{}, false)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Join(b.dir, "put"))
	defer m.Close()
	data := random(5, size)
	writes := 0
	// Every write has a path of its own, as every SST has. It goes afterwards,
	// so that memory and disk don't fill.
	put := func(store objectstore.Store) step {
		path := func() objectstore.Path { return objectstore.Path(fmt.Sprintf("put/%d", writes)) }
		return step{
			before: func() error { writes++; return nil },
			work: func() error {
				_, err := store.Put(b.ctx, path(), objectstore.Bytes(data), nil)
				return err
			},
			after: func() error { return store.Delete(b.ctx, path()) },
		}
	}
	temp, file := filepath.Join(b.dir, "temp"), filepath.Join(b.dir, "object")
	local := step{
		work: func() error {
			if err := os.WriteFile(temp, data, 0o600); err != nil {
				return err
			}
			return os.Rename(temp, file)
		},
		after: func() error { return os.Remove(file) },
	}
	took, err := turns(b.ctx, 5*b.rounds, put(remote), local, put(m))
	if err != nil {
		return err
	}
	slower := make([]float64, len(took[0].wall))
	for i := range slower {
		slower[i] = max(took[0].wall[i], took[1].wall[i])
	}
	ratio := median(ratios(took[2].wall, slower))
	b.add(row{
		what: "Put of 16 MiB, time of its slower half; " + name, ratio: ratio, bar: 1.15, atMost: true,
		details: fmt.Sprintf("%.1f ms; remote alone %.1f, file alone %.1f", median(took[2].wall)*1e3, median(took[0].wall)*1e3, median(took[1].wall)*1e3),
	})
	return nil
}

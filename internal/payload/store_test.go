package payload

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
)

// place is a store with the file, the heap and the catalog that it lies in.
type place struct {
	*Store
	file    *container.Container
	heap    *heap.Heap
	catalog *catalog.Catalog
}

// newPlace makes a store in a new file, in memory where the system has such a
// thing.
func newPlace(t testing.TB, memory int64) *place {
	t.Helper()
	return newPlaceOn(t, memory, nil)
}

// newPlaceOn is newPlace on a disk with faults.
func newPlaceOn(t testing.TB, memory int64, disk container.Hook) *place {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "payload-test-") //nolint:usetesting // faster than the default directory
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file, err := container.Open(filepath.Join(dir, "db"), container.Options{Create: true, Hook: disk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	rows := newCatalog(t, file)
	records := heap.New(file)
	t.Cleanup(records.Close)
	return &place{
		Store: New(rows, records, memory, slog.New(slog.DiscardHandler)),
		file:  file, heap: records, catalog: rows,
	}
}

func newCatalog(t testing.TB, file *container.Container) *catalog.Catalog {
	t.Helper()
	rows, err := catalog.Open(file.DSN(), catalog.Options{Readers: 4, Pragmas: container.Pragmas()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rows.Close() })
	return rows
}

// commit publishes a draft, as the queue of a database does.
func (p *place) commit(d *Draft) error {
	err := p.heap.Sync()
	if err == nil {
		err = p.catalog.Write(context.Background(), d.Publish)
	}
	return err
}

// upload publishes a payload.
func (p *place) upload(t testing.TB, data []byte) Published {
	t.Helper()
	u, err := p.NewUpload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if _, err := u.Write(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	published, err := u.Finish(t.Context(), p.commit)
	if err != nil {
		t.Fatal(err)
	}
	return published
}

// draft stores a payload without publishing it.
func (p *place) draft(t testing.TB, data []byte) *Draft {
	t.Helper()
	u, err := p.NewUpload(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if _, err := u.Write(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	d, err := u.Detach(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// open opens a reader of a published payload.
func (p *place) open(t testing.TB, published Published) *Reader {
	t.Helper()
	var r *Reader
	err := p.catalog.Read(t.Context(), catalog.Live, func(v *catalog.View) error {
		row, _, err := v.Payload(published.Digest)
		if err != nil {
			return err
		}
		r, err = p.NewReader(v, row)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// taken returns how many bytes of the file are in use.
func (p *place) taken() int64 { return p.file.Tail() - p.heap.FreeBytes() }

// random returns n bytes that are the same for the same seed.
func random(seed byte, n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed, 'p'}).Read(data) // it never fails
	return data
}

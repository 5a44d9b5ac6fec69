package stardust_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stardustdb/stardust"
)

// TestCompactGivesSpaceBackWhileOthersRead forgets most of a database, then gives the
// space back while readers of this handle and of another one read what stays, and a
// writer goes on.
func TestCompactGivesSpaceBackWhileOthersRead(t *testing.T) {
	db, options, path := aging(t)
	kept := make(map[stardust.Digest][]byte)
	const size = 700 << 10
	for i := range 20 {
		data := randomBytes(uint64(i), size)
		r := put(t, db, "changing", data)
		stays := randomBytes(uint64(100+i), 20<<10)
		kept[put(t, db, fmt.Sprint("stays", i), stays).Digest] = stays
		if i == 19 {
			kept[r.Digest] = data
		}
	}
	var many []stardust.NewNode // names, which go
	for i := range 4000 {
		many = append(many, stardust.NewNode{Name: fmt.Sprintf("%0200d", i)})
	}
	made, err := db.Tree().Create(many...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range made {
		if err := db.Tree().Remove(r.Entity, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Forget(t.Context(), &stardust.ForgetOptions{KeepLast: 1}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before := sizeOf(t, path)
	if db, err = stardust.Open(path, options); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := *options
	read.ReadOnly, read.Now = true, nil
	other, err := stardust.Open(path, &read)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()

	stop := make(chan struct{})
	var readers sync.WaitGroup
	rounds := make(chan struct{}, 100)
	for _, from := range []*stardust.DB{db, other} {
		readers.Go(func() {
			for {
				for digest, want := range kept {
					got, err := download(from, digest)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("payload %v: %d bytes, %v", digest, len(got), err)
						return
					}
				}
				if n, err := count(from); n != 21 || err != nil {
					t.Errorf("%d files, %v", n, err)
					return
				}
				select {
				case rounds <- struct{}{}:
				default:
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	<-rounds
	report, err := db.Compact(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", report)
	close(stop)
	readers.Wait()
	for report.Waiting { // nobody reads now
		if report, err = db.Compact(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		t.Logf("again: %+v", report)
	}
	if report.Holes && report.StoredAfter > before/2 {
		t.Errorf("of %d bytes, %d are still taken", before, report.StoredAfter)
	}
	if data := randomBytes(50, size); true {
		kept[put(t, db, "new", data).Digest] = data
	}
	for digest, want := range kept {
		digestOfRecord(t, db, digest, want)
		digestOfRecord(t, other, digest, want)
	}
	clean(t, db)
	clean(t, other)
	if err := errors.Join(other.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = stardust.Open(path, options); err != nil {
		t.Fatal(err)
	}
	for digest, want := range kept {
		digestOfRecord(t, db, digest, want)
	}
	clean(t, db)
}

func count(db *stardust.DB) (n int, err error) {
	for _, err := range db.Tree().Children(0) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestCompactRefusesWhatItCannotDo(t *testing.T) {
	db, options, path := aging(t)
	release, err := db.HoldWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Compact(t.Context(), nil); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("while writes are held: %v", err)
	}
	release()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Compact(t.Context(), nil); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("closed: %v", err)
	}
	read := *options
	read.ReadOnly = true
	if db, err = stardust.Open(path, &read); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Compact(t.Context(), nil); !errors.Is(err, stardust.StatusUnavailable) {
		t.Errorf("read-only: %v", err)
	}
}

package stardust_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust"
)

// TestSnapshotsEndWithTheirDatabase reads through what was taken before Close.
func TestSnapshotsEndWithTheirDatabase(t *testing.T) {
	db := open(t)
	create(t, db, `[{name a}]`)
	snapshot, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	digest := upload(t, db, []byte("payload"))
	stream, err := db.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := snapshot.Objects().Get(1); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("Get: %v", err)
	}
	if _, err := stream.Read(make([]byte, 1)); !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("Read: %v", err)
	}
	if err := stream.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// TestAReadAtAfterCloseIsClosed holds ReadAt, which runs beside other calls, to
// the same end as they have.
func TestAReadAtAfterCloseIsClosed(t *testing.T) {
	db := open(t)
	digest := upload(t, db, []byte("payload"))
	create(t, db, fmt.Sprintf(`[{name f digest {#sha256 "%v"}}]`, digest))
	stream, err := db.Tree().Open(digest)
	if err != nil {
		t.Fatal(err)
	}
	stream.Close()
	if n, err := stream.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("%d, %v", n, err)
	}
	file, err := db.Tree().FS().Open("f")
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := file.(io.ReaderAt).ReadAt(make([]byte, 1), 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a file: %v", err)
	}
}

// gate is a file system whose root is listed only when the test lets it, and
// whose file never ends.
type gate struct {
	listing chan struct{} // closed when the listing begins
	goOn    chan struct{}
	entries fstest.MapFS
}

func (g *gate) Open(name string) (fs.File, error) {
	if name == "endless" {
		f, err := fstest.MapFS{"f": {}}.Open("f")
		return endless{f}, err
	}
	f, err := g.entries.Open(name)
	if err == nil && name == "." {
		f = &gateRoot{ReadDirFile: f.(fs.ReadDirFile), gate: g}
	}
	return f, err
}

type gateRoot struct {
	fs.ReadDirFile
	gate *gate
	once sync.Once
}

func (r *gateRoot) ReadDir(n int) ([]fs.DirEntry, error) {
	r.once.Do(func() {
		close(r.gate.listing)
		<-r.gate.goOn
	})
	return r.ReadDirFile.ReadDir(n)
}

type endless struct{ fs.File }

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestAnImportIntoADirectoryThatGoesAway removes the target before anything is
// in it: nothing may hang on a directory that does not exist.
func TestAnImportIntoADirectoryThatGoesAway(t *testing.T) {
	db := open(t)
	target := create(t, db, `[{name target}]`)[0]
	g := &gate{make(chan struct{}), make(chan struct{}), fstest.MapFS{"f": {Data: []byte("f")}, "d/g": {Data: []byte("g")}}}
	type outcome struct {
		report *stardust.TransferReport
		err    error
	}
	done := make(chan outcome)
	go func() {
		report, err := db.Tree().Import(t.Context(), g, target.Entity, nil)
		done <- outcome{report, err}
	}()
	<-g.listing
	if err := db.Objects().Remove(target.Entity, 0); err != nil {
		t.Fatal(err)
	}
	close(g.goOn)
	got := <-done
	if got.err != nil || got.report.Failed != 3 || got.report.Created != 0 {
		t.Errorf("%+v, %v", got.report, got.err)
	}
	report, err := db.Check(t.Context(), nil)
	if err != nil || report.Damaged != 0 || report.Nodes != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestCloseEndsLongCalls closes the database while an import reads a file that
// never ends.
func TestCloseEndsLongCalls(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	g := &gate{make(chan struct{}), make(chan struct{}), fstest.MapFS{"endless": {}}}
	close(g.goOn)
	reading := make(chan struct{})
	var once sync.Once
	done := make(chan error)
	go func() {
		_, err := db.Tree().Import(context.Background(), g, 0, &stardust.ImportOptions{
			Progress: func(p stardust.Progress) {
				if p.Bytes > 10<<20 {
					once.Do(func() { close(reading) })
				}
			},
		})
		done <- err
	}()
	<-reading
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	if err := <-done; !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("the import: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	db = openAt(t, path, withObjects())
	if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestCloseDuringHeavyUse closes a database that many goroutines use: it comes
// back, whatever they do gets an answer, and the file is whole.
func TestCloseDuringHeavyUse(t *testing.T) {
	for round := range 2 {
		path := filepath.Join(stardust.FastDir(t), "db")
		db := openAt(t, path, withObjects())
		digest := upload(t, db, randomBytes(uint64(round), 6<<20))
		var workers sync.WaitGroup
		var ready sync.WaitGroup
		work := func(fn func(i int) error) {
			ready.Add(1)
			workers.Go(func() {
				atWork := sync.OnceFunc(ready.Done)
				for i := 0; ; i++ {
					err := fn(i)
					atWork()
					if err == nil {
						continue
					}
					if !errors.Is(err, stardust.StatusClosed) {
						t.Errorf("%v", err)
					}
					return
				}
			})
		}
		for w := range 2 {
			work(func(i int) error {
				_, err := tryUpload(db, randomBytes(uint64(100*w+i%7), 5<<20))
				return err
			})
			work(func(i int) error {
				_, err := tryCreate(t, db, fmt.Sprintf(`[{name "n%d-%d"}]`, w, i))
				return err
			})
			work(func(int) error { _, err := download(db, digest); return err })
			work(func(int) error {
				for _, err := range db.Tree().Walk(0) {
					if err != nil {
						return err
					}
				}
				return nil
			})
			work(func(int) error { _, err := db.Check(t.Context(), nil); return err })
			work(func(i int) error {
				return db.Backup(t.Context(), fmt.Sprintf("%s.%d.%d", path, w, i), nil)
			})
		}
		ready.Wait()
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		workers.Wait()
		if left, _ := filepath.Glob(path + "*.partial*"); len(left) > 0 {
			t.Errorf("backups left %q", left)
		}
		db = openAt(t, path, withObjects())
		if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		db.Close()
	}
}

// TestASecondCheckWaitsAsLongAsItsContext cancels a check that waits for another.
func TestASecondCheckWaitsAsLongAsItsContext(t *testing.T) {
	db := open(t)
	upload(t, db, []byte("payload"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := db.Check(t.Context(), &stardust.CheckOptions{Progress: func(stardust.CheckProgress) {
		cancel()
		if _, err := db.Check(ctx, nil); !errors.Is(err, stardust.StatusCanceled) {
			t.Errorf("the second check: %v", err)
		}
	}})
	if err != nil {
		t.Errorf("the first check: %v", err)
	}
}

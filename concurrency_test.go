package stardust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/stardustdb/stardust"
)

func TestEqualPayloadsUploadedAtOncePublishOnce(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	const uploads = 12
	same := randomBytes(1, 700<<10)
	var group errgroup.Group
	var fresh atomic.Int32
	own := make([][]byte, uploads)
	for i := range uploads {
		own[i] = randomBytes(uint64(100+i), 1000*i)
		group.Go(func() error {
			published, err := tryUpload(db, same)
			if err != nil {
				return err
			}
			if !published.Deduplicated {
				fresh.Add(1)
			}
			_, err = tryUpload(db, own[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := fresh.Load(); n != 1 {
		t.Errorf("%d uploads of the same bytes were told that they were the first", n)
	}
	for _, data := range append(own, same) {
		if got, err := download(db, digestOf(data)); err != nil || !bytes.Equal(got, data) {
			t.Errorf("payload of %d bytes: %d bytes, %v", len(data), len(got), err)
		}
	}
	info, err := db.Info()
	if err != nil || info.Payloads != uploads+1 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestRacingMovesNeverMakeALoop moves a chain of directories into each other
// from all sides: whatever wins, every node hangs on the root afterwards.
func TestRacingMovesNeverMakeALoop(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	const nodes = 6
	create(t, db, `[{name a1} {name a2} {name a3} {name a4} {name a5} {name a6}]`)
	for range 10 {
		var group errgroup.Group
		for from := int64(1); from <= nodes; from++ {
			for to := int64(0); to <= nodes; to++ {
				group.Go(func() error {
					_, err := db.Objects().Move(from, to, "a"+itoa(from), 0, false)
					if err != nil && !errors.Is(err, stardust.StatusInvalidArgument) {
						return err
					}
					return nil
				})
			}
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		reached := 0
		for _, err := range db.Tree().Walk(0) {
			if err != nil {
				t.Fatal(err)
			}
			reached++
		}
		if reached != nodes+1 {
			t.Fatalf("only %d of %d directories hang on the root", reached-1, nodes)
		}
	}
	wantClean(t, db)
}

func wantClean(t *testing.T, db *stardust.DB) {
	t.Helper()
	report, err := db.Check(context.Background(), nil)
	if err != nil || report.Damaged != 0 {
		t.Errorf("check: %v, %+v", err, report)
	}
}

// TestEverythingAtOnce reads, writes, lists, checks, backs up and holds writes
// at the same time, and closes the database in the middle of it.
func TestEverythingAtOnce(t *testing.T) {
	dir := stardust.FastDir(t)
	db := openAt(t, filepath.Join(dir, "db"), withObjects())
	dirs := create(t, db, `[{name one} {name two}]`)
	data := randomBytes(1, 1200<<10)
	digest := upload(t, db, data)

	// Every worker does its thing until the database is closed; the main
	// goroutine closes it once each has done it a few times.
	var work sync.WaitGroup
	var steps [8]atomic.Int32
	enough := make(chan struct{}, len(steps))
	worker := func(i, times int, step func(n int) error) {
		work.Go(func() {
			for n := 0; ; n++ {
				err := step(n)
				if errors.Is(err, stardust.StatusClosed) {
					return
				}
				if err != nil && !errors.Is(err, stardust.StatusConflict) && !errors.Is(err, stardust.StatusNotFound) {
					t.Errorf("worker %d: %v", i, err)
				}
				if steps[i].Add(1) == int32(times) {
					enough <- struct{}{}
				}
			}
		})
	}
	worker(0, 20, func(n int) error {
		published, err := tryUpload(db, randomBytes(uint64(n), 50<<10))
		if err != nil {
			return err
		}
		_, err = tryCreate(t, db, fmt.Sprintf(`[{name "f%d" parent %d digest {#sha256 %q}}]`, n, dirs[n%2].Entity, published.Digest))
		return err
	})
	worker(1, 20, func(n int) error {
		_, err := db.Objects().Move(dirs[n%2].Entity, int64(n%3), fmt.Sprint("d", n%2), 0, false)
		if errors.Is(err, stardust.StatusInvalidArgument) {
			return nil // into itself
		}
		return err
	})
	worker(2, 20, func(int) error {
		got, err := download(db, digest)
		if err == nil && !bytes.Equal(got, data) {
			err = errors.New("wrong bytes")
		}
		return err
	})
	worker(3, 20, func(int) error {
		snapshot, err := db.Snapshot()
		if err != nil {
			return err
		}
		first, err := countNodes(snapshot.Objects())
		if err != nil {
			return err
		}
		second, err := countNodes(snapshot.Objects())
		if err == nil && first != second {
			err = fmt.Errorf("a snapshot showed %d nodes, then %d", first, second)
		}
		return err
	})
	worker(4, 3, func(int) error {
		release, err := db.HoldWrites(context.Background())
		if err != nil {
			return err
		}
		defer release()
		before, err := db.Snapshot()
		if err != nil {
			return err
		}
		after, err := db.Snapshot()
		if err == nil && before.Revision() != after.Revision() {
			err = errors.New("something was written while writes were held")
		}
		return err
	})
	worker(5, 2, func(n int) error {
		path := filepath.Join(dir, "backup")
		defer os.Remove(path)
		err := db.Backup(context.Background(), path, nil)
		if err != nil || n > 0 {
			return err
		}
		copied, err := stardust.Open(path, withObjects())
		if err != nil {
			return err
		}
		defer copied.Close()
		report, err := copied.Check(context.Background(), nil)
		if err == nil && report.Damaged != 0 {
			err = report.Problems[0]
		}
		return err
	})
	worker(6, 2, func(int) error {
		report, err := db.Check(context.Background(), nil)
		if err == nil && report.Damaged != 0 {
			err = report.Problems[0]
		}
		return err
	})
	worker(7, 20, func(int) error {
		for _, err := range db.Transactions(0) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	for range steps {
		<-enough
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	work.Wait()
	again := openAt(t, filepath.Join(dir, "db"), withObjects())
	wantClean(t, again)
	if _, err := countNodes(again.Objects()); err != nil {
		t.Error(err)
	}
}

func countNodes(objects stardust.Objects) (n int, err error) {
	for _, err := range objects.Tree().Walk(0) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func TestCallsOnOneStreamAreSerialized(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	stream, err := db.Tree().Upload()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	const writers, piece = 8, 100 << 10
	var group errgroup.Group
	for i := range writers {
		group.Go(func() error {
			_, err := stream.Write(bytes.Repeat([]byte{byte('a' + i)}, piece))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	published, err := stream.Finish()
	if err != nil || published.Size != writers*piece {
		t.Fatalf("%+v, %v", published, err)
	}
	got, err := download(db, published.Digest)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(got); i += piece {
		if bytes.Count(got[i:i+piece], got[i:i+1]) != piece {
			t.Fatal("two writes are mixed")
		}
	}

	// Reads of one stream divide the payload among those who call.
	reader, err := db.Tree().Open(published.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var total atomic.Int64
	for range 4 {
		group.Go(func() error {
			n, err := io.Copy(io.Discard, struct{ io.Reader }{reader})
			total.Add(n)
			return err
		})
	}
	if err := group.Wait(); err != nil || total.Load() != published.Size {
		t.Errorf("%d bytes were read of %d, %v", total.Load(), published.Size, err)
	}
}

func TestReadAtsRunSideBySideOnOneStream(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	data := randomBytes(5, 6<<20)
	reader, err := db.Tree().Open(upload(t, db, data))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var group errgroup.Group
	for i := range 4 {
		group.Go(func() error {
			p := make([]byte, 10_000)
			for n := range 50 {
				off := (i*1_500_000 + n*123_457) % (len(data) - len(p))
				if _, err := reader.ReadAt(p, int64(off)); err != nil {
					return err
				}
				if !bytes.Equal(p, data[off:off+len(p)]) {
					return fmt.Errorf("wrong bytes at %d", off)
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		got, err := io.ReadAll(reader)
		if err == nil && !bytes.Equal(got, data) {
			err = errors.New("wrong bytes in sequence")
		}
		return err
	})
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// otherProcess names the variable that makes a test binary another process that
// opens the file.
const otherProcess = "STARDUST_TEST_OTHER_PROCESS"

// TestOtherProcess is the other process: it tries to write, reads, and says
// what it saw.
func TestOtherProcess(t *testing.T) {
	path := os.Getenv(otherProcess)
	if path == "" {
		t.Skip("runs within TestOneProcessWritesAndOthersRead")
	}
	_, err := stardust.Open(path, withObjects())
	fmt.Println("writer:", codeOf(err), err)
	options := withObjects()
	options.ReadOnly = true
	db, err := stardust.Open(path, options)
	if err != nil {
		fmt.Println("reader:", err)
		return
	}
	defer db.Close()
	for range 20 {
		for entry, err := range db.Tree().Walk(0) {
			if err != nil {
				fmt.Println("reader:", err)
				return
			}
			if entry.Record.Kind == stardust.KindFile {
				if _, err := download(db, entry.Record.Digest); err != nil {
					fmt.Println("reader:", err)
					return
				}
			}
		}
	}
	_, err = tryUpload(db, []byte("x"))
	fmt.Println("upload:", codeOf(err))
	_, err = db.Objects().Lookup(0, "before")
	fmt.Println("reader: done", err)
}

func TestOneProcessWritesAndOthersRead(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	create(t, db, `[{name before}]`)
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherProcess$")
	command.Env = append(os.Environ(), otherProcess+"="+path)
	done := make(chan struct{})
	var text []byte
	var failed error
	go func() {
		defer close(done)
		text, failed = command.CombinedOutput()
	}()
	for n, writing := 0, true; writing; n++ {
		select {
		case <-done:
			writing = false
		default:
			digest := upload(t, db, randomBytes(uint64(n), 1000+n))
			create(t, db, fmt.Sprintf(`[{name "f%d" digest {#sha256 %q}}]`, n, digest))
		}
	}
	out := string(text)
	if failed != nil || !strings.Contains(out, "reader: done <nil>") || !strings.Contains(out, "upload: "+stardust.CodeReadOnly) {
		t.Errorf("the reading process: %v\n%s", failed, out)
	}
	if !strings.Contains(out, "writer: "+stardust.CodeInUse) || !strings.Contains(out, fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("the second writer does not name the holder:\n%s", out)
	}
}

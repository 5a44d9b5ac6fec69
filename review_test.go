package stardust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stardustdb/stardust"
)

// TestZeroAndNilValuesReturnErrors calls everything on values that no database
// stands behind.
func TestZeroAndNilValuesReturnErrors(t *testing.T) {
	var db *stardust.DB
	var stream *stardust.PluginStream
	var document *stardust.Document
	var snapshot *stardust.Snapshot
	ctx := t.Context()
	first := func(_ any, err error) error { return err }
	for name, objects := range map[string]stardust.Objects{
		"zero Objects": {}, "nil DB": db.Objects(), "nil Snapshot": snapshot.Objects(),
	} {
		for call, err := range map[string]error{
			"Get":      first(objects.Get(1)),
			"Lookup":   first(objects.Lookup(0, "a")),
			"Children": first(objects.Children(0)),
			"Path":     first(objects.Path(0)),
			"Files":    first(objects.Files(strings.Repeat("0", 64))),
			"Manifest": first(objects.Manifest(strings.Repeat("0", 64))),
			"Create":   first(objects.Create(parse(t, `[{name a}]`))),
			"Update":   first(objects.Update(1, strings.Repeat("0", 64), 0)),
			"Move":     first(objects.Move(1, 0, "a", 0, false)),
			"Remove":   objects.Remove(1, 0),
			"Upload":   first(objects.Upload()),
			"Open":     first(objects.Open(strings.Repeat("0", 64))),
			"Resolve":  first(objects.Resolve("/a")),
			"History":  first(objects.History(1)),
			"Call":     first(objects.Call("get", parse(t, `{entity 1}`))),
			"Import":   first(objects.Import(ctx, fstest.MapFS{}, 0, nil)),
			"Export":   first(objects.Export(ctx, 0, filepath.Join(t.TempDir(), "x"), nil)),
			"FS":       first(objects.FS().Open(".")),
		} {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		for _, err := range objects.List(0) {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: List: %v", name, err)
			}
		}
		for _, err := range objects.Walk(0) {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("%s: Walk: %v", name, err)
			}
		}
	}
	for _, s := range []*stardust.PluginStream{stream, {}} {
		for call, err := range map[string]error{
			"Write":    first(s.Write([]byte("a"))),
			"ReadFrom": first(s.ReadFrom(strings.NewReader("a"))),
			"Finish":   first(s.Finish()),
			"Payload":  first(s.FinishPayload()),
			"Read":     first(s.Read(make([]byte, 1))),
			"ReadAt":   first(s.ReadAt(make([]byte, 1), 0)),
			"Seek":     first(s.Seek(0, io.SeekStart)),
			"WriteTo":  first(s.WriteTo(io.Discard)),
		} {
			if !errors.Is(err, stardust.StatusClosed) {
				t.Errorf("no stream: %s: %v", call, err)
			}
		}
		if s.Size() != 0 || s.Close() != nil {
			t.Error("no stream: Size and Close")
		}
	}
	for call, err := range map[string]error{
		"Close":      db.Close(),
		"Info":       first(db.Info()),
		"Snapshot":   first(db.Snapshot()),
		"AsOf":       first(db.AsOf(1)),
		"Check":      first(db.Check(ctx, nil)),
		"Backup":     db.Backup(ctx, "x", nil),
		"HoldWrites": first(db.HoldWrites(ctx)),
		"Attributes": first(db.Attributes(1)),
		"Patch":      first(db.Patch(1, parse(t, `{a 1}`), 0)),
		"Parse":      first(stardust.ParseOptions(document)),
		"Decode":     document.Decode(new(any)),
		"JSON":       first(document.JSON()),
	} {
		if !errors.Is(err, stardust.StatusClosed) {
			t.Errorf("nil: %s: %v", call, err)
		}
	}
	for _, err := range db.Transactions(0) {
		if !errors.Is(err, stardust.StatusClosed) {
			t.Errorf("nil: Transactions: %v", err)
		}
	}
	if snapshot.Revision() != 0 || document.Close() != nil {
		t.Error("nil: Revision and Close")
	}
}

// TestSnapshotsEndWithTheirDatabase reads through what was taken before Close.
func TestSnapshotsEndWithTheirDatabase(t *testing.T) {
	db := open(t)
	create(t, db, `[{name a}]`)
	snapshot, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	digest := upload(t, db, []byte("payload"))
	stream, err := db.Objects().OpenDigest(digest)
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
	stream, err := db.Objects().OpenDigest(digest)
	if err != nil {
		t.Fatal(err)
	}
	stream.Close()
	if n, err := stream.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, stardust.StatusClosed) {
		t.Errorf("%d, %v", n, err)
	}
	file, err := db.Objects().FS().Open("f")
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
		report, err := db.Objects().Import(t.Context(), g, target.Entity, nil)
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
		_, err := db.Objects().Import(context.Background(), g, 0, &stardust.TransferOptions{
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
				for _, err := range db.Objects().Walk(0) {
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

// TestBackupsNeverTouchWhatIsThere takes backups to paths that are occupied, by
// files and by other backups, and cancels some.
func TestBackupsNeverTouchWhatIsThere(t *testing.T) {
	dir := stardust.FastDir(t)
	db := openAt(t, filepath.Join(dir, "db"), withObjects())
	digest := upload(t, db, randomBytes(1, 3<<20))
	none := func(path string) {
		t.Helper()
		if left, _ := filepath.Glob(path + ".partial*"); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}

	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), there, nil); !errors.Is(err, stardust.StatusConflict) {
		t.Errorf("to a file that exists: %v", err)
	}
	if data, _ := os.ReadFile(there); string(data) != "mine" {
		t.Errorf("the file holds %q now", data)
	}
	none(there)

	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other+".partial", []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), other, nil); !errors.Is(err, stardust.StatusInvalidArgument) {
		t.Errorf("beside somebody's .partial: %v", err)
	}
	if data, _ := os.ReadFile(other + ".partial"); string(data) != "mine" {
		t.Errorf("the .partial holds %q now", data)
	}

	canceled := filepath.Join(dir, "canceled")
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Backup(ctx, canceled, &stardust.BackupOptions{Progress: func(stardust.CheckProgress) { cancel() }})
	if !errors.Is(err, stardust.StatusCanceled) {
		t.Errorf("a canceled backup: %v", err)
	}
	none(canceled)
	if err := db.Backup(ctx, canceled, nil); !errors.Is(err, stardust.StatusCanceled) {
		t.Errorf("a backup canceled before: %v", err)
	}
	none(canceled)
	if _, err := os.Lstat(canceled); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}

	// A second backup to the path of one that is under way, and one after a
	// backup that was killed.
	twice := filepath.Join(dir, "twice")
	var once sync.Once
	err = db.Backup(t.Context(), twice, &stardust.BackupOptions{Progress: func(stardust.CheckProgress) {
		once.Do(func() {
			if err := db.Backup(t.Context(), twice, nil); codeOf(err) != stardust.CodeInUse {
				t.Errorf("a second backup: %v", err)
			}
			for _, suffix := range []string{"", "-wal"} {
				data, err := os.ReadFile(twice + ".partial" + suffix)
				if err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "killed.partial"+suffix), data, 0o666); err != nil {
					t.Error(err)
				}
			}
		})
	}})
	if err != nil {
		t.Errorf("the first backup: %v", err)
	}
	killed := filepath.Join(dir, "killed")
	if err := db.Backup(t.Context(), killed, nil); err != nil {
		t.Errorf("after one that was killed: %v", err)
	}
	for _, path := range []string{twice, killed} {
		none(path)
		copied := openAt(t, path, withObjects())
		if report, err := copied.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if _, err := download(copied, digest); err != nil {
			t.Error(err)
		}
	}
}

// TestABackupUnderLoadIsWhole copies while others write, and compares the copy
// with the state that it must show.
func TestABackupUnderLoadIsWhole(t *testing.T) {
	dir := stardust.FastDir(t)
	db := openAt(t, filepath.Join(dir, "db"), withObjects())
	upload(t, db, randomBytes(1, 9<<20))
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				published, err := tryUpload(db, randomBytes(uint64(w*1000+i), 1000))
				if err == nil {
					_, err = tryCreate(t, db, fmt.Sprintf(`[{name "%d-%d" digest {#sha256 "%v"}}]`, w, i, published.Digest))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("copy%d", i))
		if err := db.Backup(t.Context(), path, nil); err != nil {
			t.Error(err)
			continue
		}
		copied := openAt(t, path, withObjects())
		report, err := copied.Check(t.Context(), nil)
		if err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
		last, err := copied.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		then, err := db.AsOf(last.Revision())
		if err != nil {
			t.Fatal(err)
		}
		want, got := childrenJSON(t, then.Objects()), childrenJSON(t, copied.Objects())
		if want != got {
			t.Errorf("the copy of revision %d differs", last.Revision())
		}
		copied.Close()
	}
	close(stop)
	writers.Wait()
}

func childrenJSON(t *testing.T, objects stardust.Objects) string {
	t.Helper()
	children, err := objects.Children(0)
	if err != nil {
		t.Fatal(err)
	}
	return children.String()
}

// TestOddPathsOfTheFS opens what io/fs calls invalid and what does not exist.
func TestOddPathsOfTheFS(t *testing.T) {
	db := open(t)
	digest := upload(t, db, []byte("f"))
	create(t, db, fmt.Sprintf(`[{name d} {name f under 1 digest {#sha256 "%v"}} {name "a\\b"} {name "é"}]`, digest))
	tree := db.Objects().FS()
	for path, want := range map[string]error{
		"": fs.ErrInvalid, "/": fs.ErrInvalid, "/d": fs.ErrInvalid, "d/": fs.ErrInvalid, "./d": fs.ErrInvalid,
		"d/../d": fs.ErrInvalid, "d//f": fs.ErrInvalid, "..": fs.ErrInvalid, "\xff": fs.ErrInvalid,
		"D": fs.ErrNotExist, "d/f/x": fs.ErrNotExist, "e\u0301": fs.ErrNotExist, "a/b": fs.ErrNotExist,
		"a\x00": fs.ErrNotExist, strings.Repeat("n", 5000): fs.ErrNotExist,
		".": nil, "d": nil, "d/f": nil, `a\b`: nil, "é": nil,
	} {
		f, err := tree.Open(path)
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", path, err, want)
		}
		var bad *fs.PathError
		if err != nil && !errors.As(err, &bad) {
			t.Errorf("%.20q: %T", path, err)
		}
		if err == nil {
			f.Close()
		}
	}
}

// TestExportReportsNamesThatTheTargetRefuses exports names that are fine in the
// tree and too long for most file systems, beside others.
func TestExportReportsNamesThatTheTargetRefuses(t *testing.T) {
	db := open(t)
	digest := upload(t, db, []byte("f"))
	long := strings.Repeat("x", 1000)
	create(t, db, fmt.Sprintf(`[{name %[1]s digest {#sha256 "%[2]v"}} {name %[1]sd} {name f under 2 digest {#sha256 "%[2]v"}}
		{name good digest {#sha256 "%[2]v"}} {name "back\\slash" digest {#sha256 "%[2]v"}}]`, long, digest))
	dir := t.TempDir()
	report, err := db.Objects().Export(t.Context(), 0, dir, nil)
	if err != nil || report.Created != 2 || report.Failed != 3 || report.Files != 4 {
		t.Errorf("%+v, %v", report, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "good")); err != nil || string(data) != "f" {
		t.Errorf("%q, %v", data, err)
	}
	target := filepath.Join(dir, "missing")
	if _, err := db.Objects().Export(t.Context(), 999, target, nil); !errors.Is(err, stardust.StatusNotFound) {
		t.Errorf("an entity that does not exist: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made all the same: %v", err)
	}
}

// TestAttributesHaveALimit fills an entity's attributes to the byte.
func TestAttributesHaveALimit(t *testing.T) {
	db := open(t)
	create(t, db, `[{name d}]`)
	full := fmt.Sprintf(`{a "%s"}`, strings.Repeat("x", stardust.MaxAttributesSize-3))
	after, err := db.Patch(1, parse(t, full), 0)
	if err != nil {
		t.Fatal(err)
	}
	now, err := db.Attributes(1)
	if err != nil || now.String() != after.String() {
		t.Errorf("Attributes differs from what Patch returned: %v", err)
	}
	before, err := db.Objects().Record(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{`{b 1}`, fmt.Sprintf(`{a "%s"}`, strings.Repeat("x", stardust.MaxAttributesSize-2))} {
		if _, err := db.Patch(1, parse(t, more), 0); !errors.Is(err, stardust.StatusInvalidArgument) {
			t.Errorf("%.10s: %v", more, err)
		}
	}
	if r, err := db.Objects().Record(1); err != nil || r.Revision != before.Revision {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := db.Patch(1, parse(t, `{a null b 1}`), 0); err != nil {
		t.Errorf("a smaller one: %v", err)
	}
	var many bytes.Buffer
	many.WriteString("{")
	for i := range 100_000 {
		fmt.Fprintf(&many, "%d 1 ", i)
	}
	many.WriteString("}")
	if _, err := db.Patch(1, parse(t, many.String()), 0); err != nil {
		t.Errorf("many small ones: %v", err)
	}
	if err := db.Objects().Remove(1, 0); err != nil {
		t.Errorf("remove: %v", err)
	}
	for _, err := range db.Transactions(0) {
		if err != nil {
			t.Error(err)
		}
	}
	if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestTransactionsPageWithoutGapsOrRepeats has commits of very different sizes.
func TestTransactionsPageWithoutGapsOrRepeats(t *testing.T) {
	db := openAt(t, filepath.Join(stardust.FastDir(t), "db"), withObjects())
	var want []int64
	for i := range 200 {
		nodes := 1
		if i%40 == 3 {
			nodes = 3000
		}
		var request strings.Builder
		for n := range nodes {
			fmt.Fprintf(&request, "{name n%d-%d}", i, n)
		}
		want = append(want, create(t, db, "["+request.String()+"]")[0].Revision)
	}
	for _, from := range []int64{-5, 0, 1, want[50], want[50] + 1, want[199], want[199] + 1} {
		var rest []int64
		for _, id := range want {
			if id >= from {
				rest = append(rest, id)
			}
		}
		var got []int64
		for transaction, err := range db.Transactions(from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, transaction.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(rest) {
			t.Errorf("from %d: %d transactions, want %d", from, len(got), len(rest))
		}
	}
}

// TestAnEntityIsNoRevisionButShowsTheStateBefore reads as of an id that a node
// took.
func TestAnEntityIsNoRevisionButShowsTheStateBefore(t *testing.T) {
	db := open(t)
	create(t, db, `[{name a}]`)          // entity 1, revision 2
	create(t, db, `[{name b} {name c}]`) // entities 3 and 4, revision 5
	for revision, want := range map[int64]string{
		0: `[]`, 1: `[]`, 2: `a`, 3: `a`, 4: `a`, 5: `a b c`,
	} {
		snapshot, err := db.AsOf(revision)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for r, err := range snapshot.Objects().List(0) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, r.Name)
		}
		got := strings.Join(names, " ")
		if got == "" {
			got = "[]"
		}
		if got != want {
			t.Errorf("as of %d: %s, want %s", revision, got, want)
		}
	}
	for revision, status := range map[int64]stardust.Status{
		-1: stardust.StatusInvalidArgument, 6: stardust.StatusNotFound, 1<<63 - 1: stardust.StatusNotFound,
	} {
		if _, err := db.AsOf(revision); statusOf(err) != status {
			t.Errorf("as of %d: %v", revision, err)
		}
	}
}

// TestAReaderSeesEveryLaterCommit has a read-only database open while another
// writes, through checkpoints and growth of the file.
func TestAReaderSeesEveryLaterCommit(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	create(t, db, `[{name first}]`)
	options := withObjects()
	options.ReadOnly = true
	reader := openAt(t, path, options)
	for i := range 40 {
		data := randomBytes(uint64(i), 1<<20)
		digest := upload(t, db, data)
		record := create(t, db, fmt.Sprintf(`[{name n%d digest {#sha256 "%v"}}]`, i, digest))[0]
		got, err := reader.Objects().LookupRecord(0, record.Name)
		if err != nil || got != record {
			t.Fatalf("%+v, %v", got, err)
		}
		if read, err := download(reader, digest); err != nil || !bytes.Equal(read, data) {
			t.Fatalf("payload %d: %v", i, err)
		}
		before, err := reader.AsOf(record.Revision - 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.Objects().Get(record.Entity); !errors.Is(err, stardust.StatusNotFound) {
			t.Fatalf("before it was made: %v", err)
		}
	}
}

// TestLockTimeoutIsHowLongOpenWaits opens a file that another has open, for a
// while that is bounded, and then until the other closes it.
func TestLockTimeoutIsHowLongOpenWaits(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	db := openAt(t, path, withObjects())
	options := withObjects()
	options.LockTimeout = 100 * time.Millisecond
	start := time.Now()
	if _, err := stardust.Open(path, options); codeOf(err) != stardust.CodeInUse {
		t.Errorf("%v", err)
	}
	if waited := time.Since(start); waited < options.LockTimeout || waited > 10*time.Second {
		t.Errorf("waited %v", waited)
	}
	options.LockTimeout = time.Minute
	opened := make(chan error)
	go func() {
		second, err := stardust.Open(path, options)
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("after the other closed: %v", err)
	}
}

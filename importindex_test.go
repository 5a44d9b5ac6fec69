package stardust_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
)

// opening is a directory that notes which files are opened.
type opening struct {
	fs.ReadLinkFS
	opened *[]string
}

func (o opening) Open(name string) (fs.File, error) {
	f, err := o.ReadLinkFS.Open(name)
	if err == nil {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			*o.opened = append(*o.opened, name)
		}
	}
	return f, err
}

// later is a clock that runs an hour fast, so that no file changed just now.
func later() time.Time { return time.Now().Add(time.Hour) }

// indexed is a directory that is imported with an index.
type indexed struct {
	dir, file, index string
	opened           []string
}

func newIndexed(t *testing.T) *indexed {
	dir := t.TempDir()
	if os.Getenv("GOOS") != "" && os.Getenv("GOOS") != "linux" {
		t.Skip("the index takes part on Linux only")
	}
	return &indexed{dir: filepath.Join(dir, "source"), file: filepath.Join(dir, "db"), index: filepath.Join(dir, "index")}
}

func (x *indexed) open(t *testing.T, now func() time.Time) *stardust.DB {
	t.Helper()
	options := withObjects()
	options.Now = now
	return openAt(t, x.file, options)
}

// run imports the directory and returns the report and the files that were read.
func (x *indexed) run(t *testing.T, db *stardust.DB, o stardust.ImportOptions) (*stardust.TransferReport, []string) {
	t.Helper()
	x.opened = nil
	o.IndexDir, o.Source, o.Workers = x.index, x.dir, 1
	from, ok := os.DirFS(x.dir).(fs.ReadLinkFS)
	if !ok {
		t.Skip("os.DirFS reads no links")
	}
	report, err := db.Tree().Import(t.Context(), opening{from, &x.opened}, 0, &o)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(x.opened)
	return report, x.opened
}

// TestUnchangedFilesAreNotRead imports a directory again after each kind of
// change.
func TestUnchangedFilesAreNotRead(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"a": "aaaa", "d/b": "bbbb", "d/e/c": "cccc"})
	db := x.open(t, later)
	if _, read := x.run(t, db, stardust.ImportOptions{}); len(read) != 3 {
		t.Fatalf("the first import read %v", read)
	}
	keepTime := func(name, text string) {
		path := filepath.Join(x.dir, name)
		info, err := os.Stat(path)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err == nil {
			err = os.Chtimes(path, info.ModTime(), info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		what      string
		change    func()
		options   stardust.ImportOptions
		read      string
		updated   int64
		unchanged int64
	}{
		{"nothing", func() {}, stardust.ImportOptions{}, "", 0, 3},
		{"nothing, read all", func() {}, stardust.ImportOptions{ReadAll: true}, "a d/b d/e/c", 0, 3},
		{"other content of the same size and time", func() { keepTime("a", "AAAA") }, stardust.ImportOptions{}, "a", 1, 2},
		{"other permissions", func() { _ = os.Chmod(filepath.Join(x.dir, "d/b"), 0o600) }, stardust.ImportOptions{}, "d/b", 1, 2},
		{"another file of the same content", func() {
			_ = os.Rename(filepath.Join(x.dir, "d/e/c"), filepath.Join(x.dir, "d/e/c2"))
			keepTime("d/e/c2", "cccc")
			_ = os.Rename(filepath.Join(x.dir, "d/e/c2"), filepath.Join(x.dir, "d/e/c"))
		}, stardust.ImportOptions{}, "d/e/c", 0, 3},
		{"other content in the tree", func() {
			if _, err := db.Tree().Put("a", strings.NewReader("tree"), nil); err != nil {
				t.Fatal(err)
			}
		}, stardust.ImportOptions{}, "a", 1, 2},
		{"another commit", func() { create(t, db, `[{name other}]`) }, stardust.ImportOptions{}, "", 0, 3},
		{"nothing once more", func() {}, stardust.ImportOptions{}, "", 0, 3},
	} {
		step.change()
		report, read := x.run(t, db, step.options)
		if strings.Join(read, " ") != step.read || report.Updated != step.updated || report.Unchanged != step.unchanged {
			t.Errorf("%s: read %v, %+v", step.what, read, report)
		}
		if got, err := fs.ReadFile(db.Tree().FS(), "a"); err != nil || step.updated > 0 && string(got) != "AAAA" && step.what != "other permissions" {
			t.Errorf("%s: a is %q, %v", step.what, got, err)
		}
	}
	// What was removed from the tree comes back.
	r, err := db.Tree().Resolve("d/b")
	if err == nil {
		err = db.Tree().Remove(r.Entity, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if report, read := x.run(t, db, stardust.ImportOptions{}); report.Created != 1 || strings.Join(read, " ") != "d/b" {
		t.Errorf("read %v, %+v", read, report)
	}
}

// TestAFileThatChangedJustNowIsReadAgain has a clock by which the files changed
// less than the coarsest time of a file system ago.
func TestAFileThatChangedJustNowIsReadAgain(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"a": "aaaa"})
	var now time.Time
	db := x.open(t, func() time.Time { return now })
	for _, test := range []struct {
		after time.Duration
		want  string
	}{{time.Second, "a"}, {time.Second, "a"}, {-time.Hour, "a"}, {3 * time.Second, "a"}, {0, ""}} {
		info, err := os.Stat(filepath.Join(x.dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		now = info.ModTime().Add(test.after)
		if _, read := x.run(t, db, stardust.ImportOptions{}); strings.Join(read, " ") != test.want {
			t.Errorf("%v after the change: read %v", test.after, read)
		}
	}
}

// TestAnIndexOfAnotherStateIsIgnored gives an import the index of another
// database, of a database that was put back to an older state and went on from
// there, and one that is damaged.
func TestAnIndexOfAnotherStateIsIgnored(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"a": "aaaa", "b": "bbbb"})
	db := x.open(t, later)
	create(t, db, `[{name first}]`)
	closeDB := func(db *stardust.DB) {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	closeDB(db)
	old, err := os.ReadFile(x.file)
	if err != nil {
		t.Fatal(err)
	}
	db = x.open(t, later)
	x.run(t, db, stardust.ImportOptions{})
	closeDB(db)
	// An older copy, which then gets as many commits of its own.
	if err := os.WriteFile(x.file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	db = x.open(t, later)
	for i := range 5 {
		create(t, db, fmt.Sprintf(`[{name other%d}]`, i))
	}
	if report, read := x.run(t, db, stardust.ImportOptions{}); report.Created != 2 || len(read) != 2 {
		t.Errorf("after an older copy: read %v, %+v", read, report)
	}
	if _, read := x.run(t, db, stardust.ImportOptions{}); len(read) != 0 {
		t.Errorf("its own index was not used: %v", read)
	}
	closeDB(db)
	names, err := os.ReadDir(x.index)
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	mine := filepath.Join(x.index, names[0].Name())
	index, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	// Another database, whose index has these bytes.
	x.file += "2"
	db = x.open(t, later)
	x.run(t, db, stardust.ImportOptions{})
	names, err = os.ReadDir(x.index)
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if path := filepath.Join(x.index, name.Name()); path != mine {
			mine = path
			break
		}
	}
	for what, text := range map[string][]byte{"foreign": index, "empty": {}, "cut": index[:len(index)/2], "noise": randomBytes(9, 5000)} {
		if err := os.WriteFile(mine, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if report, read := x.run(t, db, stardust.ImportOptions{}); len(read) != 2 || report.Unchanged != 2 {
			t.Errorf("%s: read %v, %+v", what, read, report)
		}
	}
}

// treeLines lists a tree as text: paths, kinds and content.
func treeLines(t *testing.T, db *stardust.DB) string {
	t.Helper()
	var lines []string
	err := fs.WalkDir(db.Tree().FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			lines = append(lines, path+"/")
			return err
		}
		text, err := fs.ReadFile(db.Tree().FS(), path)
		lines = append(lines, path+" "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func directoryText(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || entry.IsDir() {
			lines = append(lines, name+"/")
			return err
		}
		text, err := os.ReadFile(path)
		lines = append(lines, name+" "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestATreeMirrorsADirectory changes a directory, and sometimes the tree, at
// random, and imports it with Delete: the tree is as the directory is, with and
// without an index, and a dry run before said what would be done.
func TestATreeMirrorsADirectory(t *testing.T) {
	for seed := range uint64(12) {
		x := newIndexed(t)
		writeFiles(t, x.dir, map[string]string{"a": "first"})
		db := x.open(t, later)
		random := rand.New(rand.NewPCG(seed, 7))
		for round := range 25 {
			for range random.IntN(6) {
				randomEdit(t, random, x.dir)
			}
			if random.IntN(4) == 0 {
				randomTreeEdit(t, random, db)
			}
			o := stardust.ImportOptions{Delete: true, ReadAll: random.IntN(8) == 0}
			if random.IntN(6) == 0 {
				o.Delete = false
				x.run(t, db, o)
				continue
			}
			before := treeLines(t, db)
			o.DryRun = true
			planned, _ := x.run(t, db, o)
			if after := treeLines(t, db); after != before {
				t.Fatalf("seed %d, round %d: a dry run changed\n%s\nto\n%s", seed, round, before, after)
			}
			o.DryRun = false
			done, _ := x.run(t, db, o)
			if got, want := treeLines(t, db), directoryText(t, x.dir); got != want {
				t.Fatalf("seed %d, round %d: the tree is\n%s\nthe directory\n%s", seed, round, got, want)
			}
			if planned.Created != done.Created || planned.Moved != done.Moved || planned.Removed != done.Removed || planned.Updated != done.Updated || planned.Unchanged != done.Unchanged {
				t.Errorf("seed %d, round %d: planned %+v, done %+v", seed, round, planned, done)
			}
		}
		if report, err := db.Check(t.Context(), nil); err != nil || report.Damaged != 0 {
			t.Errorf("%+v, %v", report, err)
		}
	}
}

func randomPath(random *rand.Rand) string {
	path := string(rune('a' + random.IntN(4)))
	for range random.IntN(3) {
		path += "/" + string(rune('a'+random.IntN(4)))
	}
	return path
}

// randomEdit changes a directory. What can't be done is not.
func randomEdit(t *testing.T, random *rand.Rand, dir string) {
	path := filepath.Join(dir, randomPath(random))
	switch random.IntN(6) {
	case 0:
		_ = os.RemoveAll(path)
	case 1:
		_ = os.Rename(path, filepath.Join(dir, randomPath(random)))
	case 2:
		_ = os.MkdirAll(path, 0o777)
	case 3:
		_ = os.RemoveAll(path)
		_ = os.MkdirAll(filepath.Dir(path), 0o777)
		_ = os.WriteFile(path, fmt.Appendf(nil, "text %d", random.IntN(5)), 0o666)
	default:
		_ = os.MkdirAll(filepath.Dir(path), 0o777)
		_ = os.WriteFile(path, fmt.Appendf(nil, "text %d", random.IntN(5)), 0o666)
	}
}

func randomTreeEdit(t *testing.T, random *rand.Rand, db *stardust.DB) {
	path := randomPath(random)
	if random.IntN(2) == 0 {
		_, _ = db.Tree().Put(path, strings.NewReader("of the tree"), &stardust.PutOptions{Parents: true})
		return
	}
	if r, err := db.Tree().Resolve(path); err == nil {
		_ = db.Tree().Remove(r.Entity, 0)
	}
}

// TestARenamedFileIsMoved keeps its entity and history, and what is not gone or
// not mirrored is not moved.
func TestARenamedFileIsMoved(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"d/old": "renamed", "copied": "twice", "empty": "", "stays": "stays"})
	db := x.open(t, later)
	x.run(t, db, stardust.ImportOptions{})
	before, err := db.Tree().Resolve("d/old")
	if err != nil {
		t.Fatal(err)
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(x.dir, from), filepath.Join(x.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	rename("d/old", "new")
	rename("empty", "void")
	writeFiles(t, x.dir, map[string]string{"copy": "twice"})
	var changes []string
	report, _ := x.run(t, db, stardust.ImportOptions{Delete: true, Change: func(c stardust.TransferChange) {
		changes = append(changes, fmt.Sprint(c.Action, " ", c.From, " ", c.Path))
	}})
	slices.Sort(changes)
	if report.Moved != 1 || report.Created != 2 || report.Removed != 1 {
		t.Errorf("%+v", report)
	}
	if got, want := strings.Join(changes, ", "), "changed  d, created  copy, created  void, moved d/old new, removed  empty"; got != want {
		t.Errorf("told of %s", got)
	}
	after, err := db.Tree().Resolve("new")
	if err != nil || after.Entity != before.Entity {
		t.Errorf("%+v was %+v, %v", after, before, err)
	}
}

// refusing is a directory of which some names cannot be opened.
type refusing struct {
	fs.ReadLinkFS
	names []string
}

func (r refusing) Open(name string) (fs.File, error) {
	if slices.Contains(r.names, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.ReadLinkFS.Open(name)
}

// TestWhatCannotBeReadIsNotTakenForGone mirrors a directory of which a file and a
// directory cannot be read.
func TestWhatCannotBeReadIsNotTakenForGone(t *testing.T) {
	x := newIndexed(t)
	writeFiles(t, x.dir, map[string]string{"a": "a", "b": "b", "d/c": "c"})
	db := x.open(t, later)
	x.run(t, db, stardust.ImportOptions{Delete: true})
	writeFiles(t, x.dir, map[string]string{"a": "changed"})
	if err := os.Remove(filepath.Join(x.dir, "b")); err != nil {
		t.Fatal(err)
	}
	from := refusing{os.DirFS(x.dir).(fs.ReadLinkFS), []string{"a", "d"}}
	report, err := db.Tree().Import(t.Context(), from, 0, &stardust.ImportOptions{Delete: true, IndexDir: x.index, Source: x.dir})
	if err != nil || report.Failed != 2 || report.Removed != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if got, want := treeLines(t, db), "./\na a\nd/\nd/c c"; got != want {
		t.Errorf("the tree is\n%s", got)
	}
	// Once they can be read, what is gone by then goes.
	if err := os.Remove(filepath.Join(x.dir, "d/c")); err != nil {
		t.Fatal(err)
	}
	x.run(t, db, stardust.ImportOptions{Delete: true})
	if got, want := treeLines(t, db), directoryText(t, x.dir); got != want {
		t.Errorf("the tree is\n%s\nthe directory\n%s", got, want)
	}
}

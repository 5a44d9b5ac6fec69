package stardust_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/need"
)

// atRest returns the path of a closed database with a file in it.
func atRest(t *testing.T, path string) string {
	t.Helper()
	db, err := stardust.Open(path, withObjects())
	if err != nil {
		t.Fatal(err)
	}
	digest := upload(t, db, []byte("one"))
	create(t, db, `[{name f digest {#sha256 "`+digest.String()+`"}}]`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantFile checks that a database at path has the file of atRest.
func wantFile(t *testing.T, path string, options *stardust.Options) {
	t.Helper()
	db, err := stardust.Open(path, options)
	if err != nil {
		t.Errorf("open %q: %v", path, err)
		return
	}
	defer db.Close()
	r, err := db.Tree().Lookup(0, "f")
	if err != nil {
		t.Errorf("%q: %v", path, err)
		return
	}
	if got, err := download(db, r.Digest); err != nil || string(got) != "one" {
		t.Errorf("%q: %q, %v", path, got, err)
	}
}

// listing returns the names in a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// newer makes both superblocks say that a later version wrote them.
func newer(file []byte) []byte {
	file = bytes.Clone(file)
	for slot := range 2 {
		p := file[slot*4096 : (slot+1)*4096]
		binary.LittleEndian.PutUint32(p[16:], 99)
		binary.LittleEndian.PutUint32(p[4092:], crc32.Checksum(p[:4092], crc32.MakeTable(crc32.Castagnoli)))
	}
	return file
}

func TestFilesThatAreNotOursAreRefusedAndStayAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(atRest(t, filepath.Join(dir, "good")))
	if err != nil {
		t.Fatal(err)
	}
	headless := bytes.Clone(good)
	clear(headless[:8192])
	for _, c := range []struct {
		what   string
		file   []byte
		status stardust.Status
		code   string
	}{
		{"empty", nil, stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"one byte", []byte{0x89}, stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"text", []byte("#!/bin/sh\necho hello\n"), stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"another program's", append([]byte("SQLite format 3\x00"), make([]byte, 20000)...), stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"zeros", make([]byte, len(good)), stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"without its superblocks", headless, stardust.StatusInvalidArgument, stardust.CodeNotDatabase},
		{"a newer format", newer(good), stardust.StatusInvalidArgument, stardust.CodeNewerFormat},
		{"cut in the superblock", good[:5000], stardust.StatusEvaluationFailed, ""},
		{"cut in the first superblock", good[:100], stardust.StatusEvaluationFailed, ""},
		{"cut in the tables", good[:100_000], stardust.StatusEvaluationFailed, ""},
		{"cut in the last chunk", good[:len(good)-1], stardust.StatusEvaluationFailed, ""},
	} {
		sub := t.TempDir()
		path := filepath.Join(sub, "file")
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{false, true} {
			options := withObjects()
			options.ReadOnly = readOnly
			_, err := stardust.Open(path, options)
			wantStatus(t, c.what, err, c.status, c.code)
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v does not name the file", c.what, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.file) {
			t.Errorf("%s: the file was changed, %v", c.what, err)
		}
		if names := listing(t, sub); names != "file" {
			t.Errorf("%s: beside it lie %s", c.what, names)
		}
	}
}

func TestASecondWriterIsToldWhoHasTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := openAt(t, path, withObjects())
	for _, timeout := range []time.Duration{0, 30 * time.Millisecond} {
		options := withObjects()
		options.LockTimeout = timeout
		_, err := stardust.Open(path, options)
		wantStatus(t, "second open", err, stardust.StatusConflict, stardust.CodeInUse)
		if err != nil && !strings.Contains(err.Error(), "process "+itoa(int64(os.Getpid()))) {
			t.Errorf("%v does not name the holder", err)
		}
	}
	// One that waits long enough gets it.
	options := withObjects()
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
		t.Errorf("after the first closed: %v", err)
	}
}

func TestAFileThatMustExistIsNotMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	for _, options := range []*stardust.Options{{MustExist: true}, {ReadOnly: true}} {
		_, err := stardust.Open(path, options)
		wantStatus(t, "missing", err, stardust.StatusNotFound, "")
	}
	_, err := stardust.Open(filepath.Join(dir, "no", "such", "dir"), nil)
	wantStatus(t, "missing directory", err, stardust.StatusNotFound, "")
	_, err = stardust.Open(dir, nil)
	wantStatus(t, "a directory", err, stardust.StatusInvalidArgument, stardust.CodeNotDatabase)
	_, err = stardust.Open("", nil)
	wantStatus(t, "no path", err, stardust.StatusInvalidArgument, "")
	_, err = stardust.Open(path, &stardust.Options{MemoryBudget: -1})
	wantStatus(t, "negative budget", err, stardust.StatusInvalidArgument, "")
	_, err = stardust.Open(path, &stardust.Options{LockTimeout: -1})
	wantStatus(t, "negative timeout", err, stardust.StatusInvalidArgument, "")
	if names := listing(t, dir); names != "" {
		t.Errorf("something was made: %s", names)
	}
}

// TestReadOnlyPlacesOpenReadOnly runs as somebody who may not write, which root
// always may.
func TestReadOnlyPlacesOpenReadOnly(t *testing.T) {
	need.Ask(t, need.Ordinary)
	readOnly := withObjects()
	readOnly.ReadOnly = true
	for _, what := range []string{"file", "directory"} {
		dir := t.TempDir()
		path := atRest(t, filepath.Join(dir, "db"))
		forbidden, mode, back := path, os.FileMode(0o444), os.FileMode(0o666)
		if what == "directory" {
			forbidden, mode, back = dir, 0o555, 0o777
		}
		if err := os.Chmod(forbidden, mode); err != nil {
			t.Fatal(err)
		}
		_, err := stardust.Open(path, withObjects())
		wantStatus(t, what, err, stardust.StatusUnavailable, stardust.CodeReadOnly)
		if names := listing(t, dir); names != "db" {
			t.Errorf("%s: after a refused open, beside the file lie %s", what, names)
		}
		wantFile(t, path, readOnly)
		if err := os.Chmod(forbidden, back); err != nil {
			t.Fatal(err)
		}
		// No lock stays behind, and the next writer tidies up.
		wantFile(t, path, withObjects())
		if names := listing(t, dir); names != "db" {
			t.Errorf("%s: beside the file lie %s", what, names)
		}
	}
}

func TestReadOnlyDatabasesRefuseEveryWrite(t *testing.T) {
	path := atRest(t, filepath.Join(t.TempDir(), "db"))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	options := withObjects()
	options.ReadOnly = true
	db := openAt(t, path, options)
	f := &fixture{t: t, db: db, objects: db.Objects(), file: 1}
	f.digest = digestOf([]byte("one"))
	for name, call := range map[string]func() error{
		"create": func() error { return f.create(`[{name x}]`) },
		"update": func() error { return f.update(1, f.digest.String()) },
		"move":   func() error { return document(f.objects.Move(1, 0, "x", 0, false)) },
		"remove": func() error { return f.objects.Remove(1, 0) },
		"upload": func() error { return stream(f.objects.Upload()) },
		"patch":  func() error { return document(db.Patch(1, parse(t, `{a 1}`), 0)) },
		"hold":   func() error { _, err := db.HoldWrites(t.Context()); return err },
	} {
		wantStatus(t, name, call(), stardust.StatusUnavailable, stardust.CodeReadOnly)
	}
	wantClean(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading changed the file, %v", err)
	}
}

// TestNothingDependsOnTheClock sets the clock back by years between commits.
// TestTimesThatARecordCannotHoldStayNear uses clocks that are far off.
func TestTimesThatARecordCannotHoldStayNear(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	options := withObjects()
	years := []int{3000, 1, -200, 9999}
	commits := 0
	options.Now = func() time.Time { return time.Date(years[commits], 1, 1, 0, 0, 0, 0, time.UTC) }
	db := openAt(t, path, options)
	for i := range years {
		commits = i
		create(t, db, `[{name n`+itoa(int64(i))+`}]`)
	}
	want := []int{2262, 1677, 1677, 2262}
	i := 0
	for transaction, err := range db.Transactions(0) {
		if err != nil || transaction.Time.Year() != want[i] {
			t.Errorf("the clock says %d, the record %v, %v", years[i], transaction.Time, err)
		}
		i++
	}
}

func TestNothingDependsOnTheClock(t *testing.T) {
	path := filepath.Join(stardust.FastDir(t), "db")
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	options := withObjects()
	options.Now = func() time.Time {
		now = now.AddDate(-7, 0, 0) // passes 1970, too
		return now
	}
	for i := range 12 {
		db, err := stardust.Open(path, options)
		if err != nil {
			t.Fatal(err)
		}
		if r := create(t, db, `[{name n`+itoa(int64(i))+`}]`)[0]; r.Revision != int64(2*i+2) {
			t.Errorf("commit %d has revision %d", i, r.Revision)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	db := openAt(t, path, options)
	n := int64(0)
	var last time.Time
	for transaction, err := range db.Transactions(0) {
		n += 2
		if err != nil || transaction.ID != n || n > 2 && !transaction.Time.Before(last) {
			t.Errorf("%+v, %v", transaction, err)
		}
		last = transaction.Time
	}
	if snapshot, err := db.AsOf(6); err != nil {
		t.Error(err)
	} else if nodes, err := countNodes(snapshot.Objects()); err != nil || nodes != 4 {
		t.Errorf("as of revision 6: %d nodes, %v", nodes, err)
	}
	wantClean(t, db)
}

func TestAtRestThereIsOneFileThatMayBeMoved(t *testing.T) {
	dir := t.TempDir()
	path := atRest(t, filepath.Join(dir, "db"))
	if names := listing(t, dir); names != "db" {
		t.Errorf("beside the file at rest: %s", names)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	wantFile(t, moved, withObjects())
}

func TestOddPathsAndLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "what?", "100%25", "a#b", "a&mode=ro", "déjà vu", "日本", "quote'\"", "new\nline", "file:x", strings.Repeat("n", 251)} {
		sub := filepath.Join(dir, name+".d")
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		path := atRest(t, filepath.Join(sub, name))
		wantFile(t, path, withObjects())
		if names := listing(t, sub); names != name {
			t.Errorf("%q: in its directory lie %q", name, names)
		}
	}
	target := atRest(t, filepath.Join(dir, "target"))
	link := filepath.Join(dir, "link")
	need.Ask(t, need.Symlinks)
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	wantFile(t, link, withObjects())
	first := openAt(t, link, withObjects())
	_, err := stardust.Open(target, withObjects())
	wantStatus(t, "the file that a link leads to", err, stardust.StatusConflict, stardust.CodeInUse)
	first.Close()
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info, err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	_, err = stardust.Open(filepath.Join(dir, "dangling"), withObjects())
	wantStatus(t, "a link to nothing", err, stardust.StatusNotFound, "")
}

// TestOpenErrorsNameThePathOnce: a person reads which file it is, and not three
// times.
func TestOpenErrorsNameThePathOnce(t *testing.T) {
	dir := stardust.FastDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "missing"), filepath.Join(file, "x"), file, dir} {
		for _, o := range []*stardust.Options{{ReadOnly: true}, {MustExist: true}} {
			_, err := stardust.Open(path, o)
			if err == nil || strings.Count(err.Error(), path) != 1 {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

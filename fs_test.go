package stardust_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust"
)

// randomBytes returns n bytes that are the same for the same seed.
func randomBytes(seed uint64, n int) []byte {
	data := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	_, _ = source.Read(data)
	return data
}

func TestFSPassesTheStandardSuite(t *testing.T) {
	db := open(t)
	from := fstest.MapFS{
		"a.txt":            {Data: []byte("hello")},
		"empty":            {Data: nil},
		"dir/b.bin":        {Data: randomBytes(1, 9<<10)}, // the suite reads every byte alone
		"dir/deeper/c.txt": {Data: []byte("see")},
		"dir/ü ñ":          {Data: []byte("unicode")},
	}
	report, err := db.Tree().Import(context.Background(), from, 0, nil)
	if err != nil || report.Failed != 0 || report.Created != 5 {
		t.Fatalf("import: %+v, %v", report, err)
	}
	if err := fstest.TestFS(db.Tree().FS(), "a.txt", "empty", "dir/b.bin", "dir/deeper/c.txt", "dir/ü ñ"); err != nil {
		t.Error(err)
	}
	snapshot, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(snapshot.Tree().FS(), "a.txt", "dir/deeper/c.txt"); err != nil {
		t.Error("of a snapshot: ", err)
	}
}

func TestHTTPServesRangesOfTheFS(t *testing.T) {
	db := open(t)
	data := randomBytes(2, 5<<20)
	_, err := db.Tree().Import(context.Background(), fstest.MapFS{"big": {Data: data}}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.FS(db.Tree().FS())))
	defer server.Close()
	request, err := http.NewRequest(http.MethodGet, server.URL+"/big", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Range", "bytes=4000000-4000099")
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusPartialContent || !bytes.Equal(got, data[4000000:4000100]) {
		t.Errorf("status %d, %d bytes, %v", response.StatusCode, len(got), err)
	}
}

func TestImportTakesUpWhereItStopped(t *testing.T) {
	db := open(t)
	from := fstest.MapFS{"d/a": {Data: []byte("one")}, "d/b": {Data: []byte("two")}, "c": {Data: []byte("three")}}
	first, err := db.Tree().Import(context.Background(), from, 0, nil)
	if err != nil || first.Created != 3 || first.Directories != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	before, err := db.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	from["d/b"] = &fstest.MapFile{Data: []byte("changed")}
	from["e"] = &fstest.MapFile{Data: []byte("one")}
	second, err := db.Tree().Import(context.Background(), from, 0, nil)
	if err != nil || second.Created != 1 || second.Updated != 1 || second.Unchanged != 2 {
		t.Fatalf("%+v, %v", second, err)
	}
	a, err := db.Tree().Resolve("d/a")
	if err != nil || a.Revision > before.Revision() {
		t.Errorf("an unchanged file has a new revision: %+v, %v", a, err)
	}
}

func TestImportReportsWhatItCannotTakeAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("good", "good")
	write("not\xffutf8", "bad name")
	if err := os.Symlink("good", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	db := open(t)
	// A file system that cannot read links.
	report, err := db.Tree().Import(context.Background(), struct{ fs.FS }{os.DirFS(dir)}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Created != 1 || report.Failed != 1 || report.Skipped != 1 || len(report.Problems) != 2 {
		t.Errorf("%+v", report)
	}
	if _, err := db.Tree().Resolve("link"); err == nil {
		t.Error("a symbolic link was imported")
	}
}

func TestExportWritesTheTreeAndResumes(t *testing.T) {
	db := open(t)
	from := fstest.MapFS{
		"d/a":     {Data: []byte("one")},
		"d/e/b":   {Data: randomBytes(3, 2<<20)},
		"empty":   {Data: nil},
		"d/other": {Data: []byte("x")},
	}
	if _, err := db.Tree().Import(context.Background(), from, 0, nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "target")
	report, err := db.Tree().Export(context.Background(), 0, dir, nil)
	if err != nil || report.Created != 4 || report.Failed != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	for name, file := range from {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(got, file.Data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "d/a"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := db.Tree().Export(context.Background(), 0, dir, nil)
	if err != nil || again.Unchanged != 3 || again.Failed != 1 {
		t.Errorf("a changed file was overwritten, or others not left alone: %+v, %v", again, err)
	}
	replaced, err := db.Tree().Export(context.Background(), 0, dir, &stardust.ExportOptions{Replace: true})
	if err != nil || replaced.Updated != 1 {
		t.Errorf("%+v, %v", replaced, err)
	}
}

func TestExportNeverLeavesItsDirectory(t *testing.T) {
	db := open(t)
	from := fstest.MapFS{"d/a": {Data: []byte("payload")}, "f": {Data: []byte("payload")}}
	if _, err := db.Tree().Import(context.Background(), from, 0, nil); err != nil {
		t.Fatal(err)
	}
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "victim"), []byte("safe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "victim"), filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	safe := func(report *stardust.TransferReport, err error, failed, created, updated int64) {
		t.Helper()
		if err != nil || report.Failed != failed || report.Created != created || report.Updated != updated {
			t.Errorf("%+v, %v", report, err)
		}
		if victim, err := os.ReadFile(filepath.Join(outside, "victim")); err != nil || string(victim) != "safe" {
			t.Errorf("a file outside was changed: %q, %v", victim, err)
		}
		if _, err := os.Lstat(filepath.Join(outside, "a")); err == nil {
			t.Error("a file was written through a symbolic link")
		}
	}
	report, err := db.Tree().Export(context.Background(), 0, dir, nil)
	safe(report, err, 3, 0, 0)
	// The links go, and what they lead to stays.
	report, err = db.Tree().Export(context.Background(), 0, dir, &stardust.ExportOptions{Replace: true})
	safe(report, err, 0, 1, 1)
}

func TestTenThousandLevelsOfDirectories(t *testing.T) {
	db := open(t)
	parent := int64(0)
	for made := 0; made < 10_000; {
		text := []byte("[")
		for i := range 1000 {
			if i == 0 {
				text = append(text, "{name d parent "...)
				text = append(text, []byte(itoa(parent))...)
				text = append(text, '}')
				continue
			}
			text = append(text, " {name d under "...)
			text = append(text, []byte(itoa(int64(i)))...)
			text = append(text, '}')
		}
		records := create(t, db, string(append(text, ']')))
		parent = records[len(records)-1].Entity
		made += len(records)
	}
	names, err := db.Tree().Path(parent)
	if err != nil || len(names) != 10_000 {
		t.Fatalf("%d names, %v", len(names), err)
	}
	steps := 0
	for _, err := range db.Tree().Walk(0) {
		if err != nil {
			t.Fatal(err)
		}
		steps++
	}
	if steps != 10_001 {
		t.Errorf("walked %d steps", steps)
	}
	dir := t.TempDir()
	report, err := db.Tree().Export(context.Background(), 0, dir, nil)
	if err != nil || report.Directories != 10_000 {
		t.Errorf("export: %+v, %v", report, err)
	}
	removeDeep(t, dir)
	if err := db.Objects().Remove(parent, 0); err != nil {
		t.Error(err)
	}
	if _, err := db.Objects().Move(1, parent-1, "x", 0, false); statusOf(err) != stardust.StatusInvalidArgument {
		t.Errorf("a move into the depth of itself: %v", err)
	}
}

//go:build linux

package stardust_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stardustdb/stardust"
)

// preservedSource is a directory with a file of two names and extended attributes.
func preservedSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"a": "linked", "alone": "alone", "d/x": "x"})
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "d", "z")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	for _, name := range []string{"a", "d"} {
		if err := unix.Setxattr(filepath.Join(dir, name), "user.note", []byte{0, 255, 'n'}, 0); err != nil {
			t.Skipf("no extended attributes here: %v", err)
		}
	}
	return dir
}

func xattr(t *testing.T, path, name string) (string, bool) {
	t.Helper()
	var value [64]byte
	n, err := unix.Getxattr(path, name, value[:])
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(value[:n]), true
}

func sys(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%s: %T", path, info.Sys())
	}
	return st
}

// TestWhatIsPreservedComesBack takes owner, extended attributes and hard links
// into a database, and out of it as files and as an archive.
func TestWhatIsPreservedComesBack(t *testing.T) {
	dir := preservedSource(t)
	root := os.Geteuid() == 0
	if root {
		if err := os.Lchown(filepath.Join(dir, "a"), 4711, 4712); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t)
	all := stardust.PreserveAll()
	if _, err := db.Tree().Import(t.Context(), os.DirFS(dir), 0, &stardust.ImportOptions{Preserve: all}); err != nil {
		t.Fatal(err)
	}
	archived := open(t)
	var archive bytes.Buffer
	if err := db.Tree().ExportTar(t.Context(), 0, &archive, nil); err != nil {
		t.Fatal(err)
	}
	if report, err := archived.Tree().ImportTar(t.Context(), &archive, 0, nil); err != nil || report.Failed != 0 {
		t.Fatal(report, err)
	}
	for what, db := range map[string]*stardust.DB{"imported": db, "archived": archived} {
		out := filepath.Join(t.TempDir(), "out")
		for round, want := range []string{"new", "again"} {
			report, err := db.Tree().Export(t.Context(), 0, out, &stardust.ExportOptions{Preserve: all})
			if err != nil || report.Failed != 0 || report.Created+report.Unchanged != 4 || (report.Created == 4) != (round == 0) {
				t.Fatalf("%s, %s: %+v, %v", what, want, report, err)
			}
		}
		a, z := sys(t, filepath.Join(out, "a")), sys(t, filepath.Join(out, "d", "z"))
		if a.Ino != z.Ino || a.Nlink != 2 {
			t.Errorf("%s: the names are no links of one file", what)
		}
		if root && (a.Uid != 4711 || a.Gid != 4712) {
			t.Errorf("%s: the owner is %d:%d", what, a.Uid, a.Gid)
		}
		for _, name := range []string{"a", "d"} {
			if value, _ := xattr(t, filepath.Join(out, name), "user.note"); value != "\x00\xffn" {
				t.Errorf("%s: the extended attribute of %s is %q", what, name, value)
			}
		}
	}
}

// strange puts a file with everything that a stranger may say of it.
func strange(t *testing.T, db *stardust.DB, name, content string) {
	t.Helper()
	file := &stardust.FileAttributes{
		HasMode: true, Mode: 0o755 | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky,
		Owner:  &stardust.FileOwner{UID: 4711, GID: 4711},
		Xattrs: map[string][]byte{"user.note": []byte("n"), "security.capability": []byte("forged"), "trusted.t": []byte("t")},
	}
	r, err := db.Tree().Put(name, strings.NewReader(content), &stardust.PutOptions{File: file})
	if err == nil {
		_, err = db.Patch(r.Entity, parse(t, `{stardust/file {link "one"}}`), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingOfAStrangersIsAppliedUnasked exports such files with each selection.
func TestNothingOfAStrangersIsAppliedUnasked(t *testing.T) {
	db := open(t)
	strange(t, db, "a", "same")
	strange(t, db, "b", "same")
	strange(t, db, "c", "other")
	special := fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	for _, c := range []struct {
		what     string
		preserve stardust.Preserve
		note     bool
		linked   bool
		special  fs.FileMode
		problem  string
	}{
		{"nothing", stardust.Preserve{}, false, false, 0, ""},
		{"extended attributes", stardust.Preserve{Xattrs: true}, true, false, 0, ""},
		{"links", stardust.Preserve{HardLinks: true}, false, true, 0, ""},
		{"privileges without their owner", stardust.Preserve{Privileges: true}, false, false, fs.ModeSticky, "setuid"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		report, err := db.Tree().Export(t.Context(), 0, out, &stardust.ExportOptions{Preserve: c.preserve})
		if err != nil || report.Created != 3 || (report.Failed > 0) != (c.problem != "") {
			t.Fatalf("%s: %+v, %v", c.what, report, err)
		}
		for _, p := range report.Problems {
			if !strings.Contains(p.Err.Error(), c.problem) {
				t.Errorf("%s: %v", c.what, p.Err)
			}
		}
		path := filepath.Join(out, "a")
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode() & special; got != c.special {
			t.Errorf("%s: the mode is %v", c.what, info.Mode())
		}
		if st := sys(t, path); st.Uid != uint32(os.Geteuid()) {
			t.Errorf("%s: the file was given to %d", c.what, st.Uid)
		}
		if _, found := xattr(t, path, "user.note"); found != c.note {
			t.Errorf("%s: user.note is there: %v", c.what, found)
		}
		for _, name := range []string{"security.capability", "trusted.t"} {
			if _, found := xattr(t, path, name); found {
				t.Errorf("%s: %s was applied", c.what, name)
			}
		}
		if a, b, other := sys(t, path), sys(t, filepath.Join(out, "b")), sys(t, filepath.Join(out, "c")); (a.Ino == b.Ino) != c.linked || a.Ino == other.Ino {
			t.Errorf("%s: a and b are linked: %v; a and c, which differ: %v", c.what, a.Ino == b.Ino, a.Ino == other.Ino)
		}
	}
}

// TestWhatCannotBeRestoredIsReported has an extended attribute of a kind that no
// system knows: the file is there, and the export goes on.
func TestWhatCannotBeRestoredIsReported(t *testing.T) {
	db := open(t)
	known := &stardust.FileAttributes{
		HasMode: true, Mode: 0o444, ModTime: time.Unix(1e9, 0),
		Xattrs: map[string][]byte{"nowhere.x": nil, "user.note": []byte("n"), "user.\x00": nil},
	}
	for _, name := range []string{"a", "b"} {
		if _, err := db.Tree().Put(name, strings.NewReader(name), &stardust.PutOptions{File: known}); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	report, err := db.Tree().Export(t.Context(), 0, out, &stardust.ExportOptions{Preserve: stardust.PreserveAll()})
	if err != nil || report.Created != 2 || report.Failed != 2 || report.Bytes != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if text := report.Problems[0].Err.Error(); !strings.Contains(text, `"nowhere.x": operation not supported`) || !strings.Contains(text, `"user.\x00"`) {
		t.Errorf("reported as %s", text)
	}
	info, err := os.Stat(filepath.Join(out, "b"))
	if err != nil || info.Mode() != 0o444 || !info.ModTime().Equal(known.ModTime) {
		t.Errorf("b has mode %v and time %v, %v", info.Mode(), info.ModTime(), err)
	}
	if _, found := xattr(t, filepath.Join(out, "a"), "user.note"); !found {
		t.Log("no extended attributes here")
	}
}

// TestLinksAreMadeOnlyToTheRightContent has a local file in the way of the first
// name, which the export leaves alone.
func TestLinksAreMadeOnlyToTheRightContent(t *testing.T) {
	db := open(t)
	for _, name := range []string{"a", "b", "c"} {
		strange(t, db, name, "same")
	}
	out := t.TempDir()
	writeFiles(t, out, map[string]string{"a": "mine"})
	options := &stardust.ExportOptions{Preserve: stardust.Preserve{HardLinks: true}}
	report, err := db.Tree().Export(t.Context(), 0, out, options)
	if err != nil || report.Failed != 1 || report.Created != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	b, c := sys(t, filepath.Join(out, "b")), sys(t, filepath.Join(out, "c"))
	if text, err := os.ReadFile(filepath.Join(out, "b")); err != nil || string(text) != "same" || b.Ino != c.Ino {
		t.Errorf("b holds %q, %v; linked with c: %v", text, err, b.Ino == c.Ino)
	}
	options.Replace = true
	if report, err = db.Tree().Export(t.Context(), 0, out, options); err != nil || report.Failed != 0 || report.Updated != 3 {
		t.Errorf("replacing: %+v, %v", report, err)
	}
	if a, c := sys(t, filepath.Join(out, "a")), sys(t, filepath.Join(out, "c")); a.Ino != c.Ino || a.Nlink != 3 {
		t.Errorf("after it %d names are linked", a.Nlink)
	}
}

// readCounter is a directory that counts bytes read by the files' names.
type readCounter struct {
	fs.FS
	read map[string]int
}

func (r readCounter) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if info, failed := fs.Stat(r.FS, name); err != nil || failed != nil || info.IsDir() {
		return f, err
	}
	return countedRead{f, name, r.read}, nil
}

type countedRead struct {
	fs.File
	name string
	read map[string]int
}

func (c countedRead) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.read[c.name] += n
	return n, err
}

// TestNamesOfOneFileAreReadOnce imports a large file of three names.
func TestNamesOfOneFileAreReadOnce(t *testing.T) {
	dir := preservedSource(t)
	const size = 3 << 20
	writeFiles(t, dir, map[string]string{"a": strings.Repeat("large ", size/6)})
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "last")); err != nil {
		t.Fatal(err)
	}
	options := withObjects()
	options.Now = later
	db := openAt(t, filepath.Join(t.TempDir(), "db"), options)
	from := readCounter{os.DirFS(dir), make(map[string]int)}
	report, err := db.Tree().Import(t.Context(), from, 0, &stardust.ImportOptions{Workers: 1})
	if err != nil || report.Failed != 0 || report.Created != 5 || report.Bytes != 3*size+6 {
		t.Fatal(report, err)
	}
	if read := from.read["a"] + from.read["last"] + from.read["d/z"]; read != size {
		t.Errorf("read of each name: %v", from.read)
	}
	for _, name := range []string{"a", "d/z", "last"} {
		if r, err := db.Tree().Resolve(name); err != nil || r.Size != size {
			t.Errorf("%s is %+v, %v", name, r, err)
		}
	}
}

// TestAnArchiveOfTooMuchIsReported has more extended attributes than are kept.
func TestAnArchiveOfTooMuchIsReported(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: "a", Size: 1, Mode: 0o644,
		PAXRecords: map[string]string{"SCHILY.xattr.user.big": strings.Repeat("x", 600<<10)},
	})
	if err == nil {
		_, err = w.Write([]byte("a"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	db := open(t)
	report, err := db.Tree().ImportTar(t.Context(), &archive, 0, nil)
	if err != nil || report.Created != 1 || report.Failed != 1 {
		t.Errorf("%+v, %v", report, err)
	}
}

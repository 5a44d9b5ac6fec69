package stardust

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stardustdb/stardust/internal/chunk"
)

// filesThenDirectories is a file system whose root lists files first, which the
// workers fail to store, and then very many directories.
type filesThenDirectories struct {
	opened chan struct{} // a token for every file that was opened
}

func (f filesThenDirectories) Open(name string) (fs.File, error) {
	if name != "." {
		f.opened <- struct{}{}
		return fstest.MapFS{"f": {Data: []byte(name)}}.Open("f")
	}
	root, err := fstest.MapFS{}.Open(".")
	return &filesThenDirectoriesRoot{File: root, fs: f}, err
}

type filesThenDirectoriesRoot struct {
	fs.File
	fs    filesThenDirectories
	calls int
}

func (r *filesThenDirectoriesRoot) ReadDir(int) ([]fs.DirEntry, error) {
	tree := make(fstest.MapFS)
	switch r.calls++; {
	case r.calls == 1:
		tree["a"], tree["b"] = &fstest.MapFile{}, &fstest.MapFile{}
	case r.calls <= 50:
		if r.calls == 2 {
			<-r.fs.opened
			<-r.fs.opened // both workers are about to fail
		}
		for i := range 256 {
			tree[string(rune(0x4e00+r.calls*256+i))] = &fstest.MapFile{Mode: fs.ModeDir}
		}
	default:
		return nil, io.EOF
	}
	return tree.ReadDir(".")
}

// TestAnImportWhoseWorkersFailEndsOrderly has no memory for the workers while the
// walk is still busy.
func TestAnImportWhoseWorkersFailEndsOrderly(t *testing.T) {
	db, err := Open(filepath.Join(FastDir(t), "db"), &Options{
		Plugins:      Plugins{Objects: &ObjectsPlugin{}},
		MemoryBudget: 8 * chunk.Max, // of two uploads
		Compression:  CompressionNone,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for {
		buffer, err := db.payloads.Buffer(t.Context(), chunk.Max, "this test")
		if err != nil {
			break
		}
		defer buffer.Release()
	}
	for range 20 {
		from := filesThenDirectories{make(chan struct{}, 2)}
		_, err := db.Tree().Import(t.Context(), from, 0, &ImportOptions{Workers: 2})
		if !errors.Is(err, StatusOutOfMemory) {
			t.Fatalf("an import without memory: %v", err)
		}
	}
}

// stutter is a file system that lists everything twice.
type stutter struct{ fstest.MapFS }

func (s stutter) Open(name string) (fs.File, error) {
	f, err := s.MapFS.Open(name)
	if dir, ok := f.(fs.ReadDirFile); ok && name == "." {
		f = &stutterRoot{ReadDirFile: dir, entries: s.MapFS}
	}
	return f, err
}

type stutterRoot struct {
	fs.ReadDirFile
	entries fstest.MapFS
	calls   int
}

func (r *stutterRoot) ReadDir(int) ([]fs.DirEntry, error) {
	if r.calls++; r.calls > 2 {
		return nil, io.EOF
	}
	return r.entries.ReadDir(".")
}

// TestAnImportFromAFileSystemThatListsNamesTwice reports the second of each and
// goes on.
func TestAnImportFromAFileSystemThatListsNamesTwice(t *testing.T) {
	db, err := Open(filepath.Join(FastDir(t), "db"), &Options{Plugins: Plugins{Objects: &ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	from := stutter{fstest.MapFS{"a": {Data: []byte("a")}, "b": {Data: []byte("b")}, "d": {Mode: fs.ModeDir}}}
	report, err := db.Tree().Import(t.Context(), from, 0, nil)
	if err != nil || report.Created != 2 || report.Failed != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	if check, err := db.Check(t.Context(), nil); err != nil || check.Damaged != 0 || check.Nodes != 3 {
		t.Errorf("%+v, %v", check, err)
	}
}

//go:build unix

package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var errStored = errors.New("stored")

// swapTarget changes what has a name when that is checked: after it was looked at,
// and before it is opened.
type swapTarget struct {
	Target
	swap func() error
	read strings.Builder
}

func (*swapTarget) State(int64) (State, error) { return State{}, nil }

func (*swapTarget) Owns(fs.FileInfo) bool { return false }

func (*swapTarget) Commit(context.Context, []*Item, func(string) bool, []Gone) error { return nil }

func (s *swapTarget) CheckName(name string) error {
	if name != "place" {
		return nil
	}
	return s.swap()
}

// Store ends the import with errStored.
func (s *swapTarget) Store(_ context.Context, from io.Reader) (Content, error) {
	_, err := io.Copy(&s.read, from)
	return nil, errors.Join(errStored, err)
}

// TestWhatTookThePlaceOfAFileIsNotWaitedFor puts something in the place of what an
// import has looked at and not yet opened.
func TestWhatTookThePlaceOfAFileIsNotWaitedFor(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	for _, c := range []struct {
		what      string
		directory bool // in whose place it is put
		put       func(path string) error
		says      string // empty when it is stored
	}{
		{"a pipe for a file", false, pipe, "has become a named pipe"},
		{"a pipe for a directory", true, pipe, "not a directory"},
		{"a link for a file", false, func(path string) error { return os.Symlink("../other", path) }, "has become a symbolic link"},
		{"a file for a file", false, func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) }, ""},
	} {
		for _, way := range []string{"DirFS", "Root"} {
			t.Run(c.what+" by "+way, func(t *testing.T) {
				dir := t.TempDir()
				writeFile(t, filepath.Join(dir, "other"), "other")
				top := filepath.Join(dir, "top")
				place, aside := filepath.Join(top, "place"), filepath.Join(dir, "aside")
				if c.directory {
					if err := os.MkdirAll(place, 0o700); err != nil {
						t.Fatal(err)
					}
				} else {
					if err := os.Mkdir(top, 0o700); err != nil {
						t.Fatal(err)
					}
					writeFile(t, place, "looked at")
				}
				root, err := os.OpenRoot(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer root.Close()
				from := os.DirFS(dir)
				if way == "Root" {
					from = root.FS()
				}
				to := &swapTarget{}
				to.swap = func() error { return errors.Join(os.Rename(place, aside), c.put(place)) }
				done := make(chan struct{})
				var report *Report
				go func() {
					defer close(done)
					report, err = Import(t.Context(), to, from, 0, ImportOptions{
						Options: Options{Workers: 1}, Only: []string{"top/place"}, Now: time.Now,
					})
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatal("the import waits")
				}
				if c.says == "" {
					if !errors.Is(err, errStored) || to.read.String() != "other" {
						t.Errorf("stored %q, %v", &to.read, err)
					}
					return
				}
				if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Err.Error(), c.says) {
					t.Errorf("problems %v, %v", report.Problems, err)
				}
			})
		}
	}
}

// TestATagOfCachesIsAFile has an import look for the tag where a pipe has its name.
func TestATagOfCachesIsAFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, cacheTag), 0o600); err != nil {
		t.Fatal(err)
	}
	// Nobody writes, but somebody could.
	held, err := os.OpenFile(filepath.Join(dir, cacheTag), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	from := os.DirFS(dir)
	im := &importer{from: from, opener: openerOf(from)}
	done := make(chan bool)
	go func() { done <- im.isCache(".") }()
	select {
	case cache := <-done:
		if cache {
			t.Error("a pipe makes it a cache")
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for who might write")
	}
}

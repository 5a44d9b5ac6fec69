//go:build linux

package mount

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/need"
)

// fixture is a database that is mounted for one test.
type fixture struct {
	t     *testing.T
	db    *stardust.DB
	file  string
	dir   string
	mount *Mount
}

func newDatabase(t *testing.T) (*stardust.DB, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "db.stardust")
	db, err := stardust.Open(file, &stardust.Options{Plugins: stardust.Plugins{Objects: &stardust.ObjectsPlugin{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, file
}

// mounted mounts a new database, or skips where nothing can be mounted.
func mounted(t *testing.T, options *Options) *fixture {
	t.Helper()
	need.Ask(t, need.FUSE)
	db, file := newDatabase(t)
	f := &fixture{t: t, db: db, file: file, dir: t.TempDir()}
	f.start(options)
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) start(options *Options) {
	f.t.Helper()
	m, err := New(f.db, f.dir, options)
	if err != nil {
		f.t.Fatal(err)
	}
	f.mount = m
}

func (f *fixture) stop() {
	f.t.Helper()
	if f.mount == nil {
		return
	}
	if err := f.mount.Unmount(); err != nil {
		f.t.Error(err)
	}
	f.mount = nil
}

// path returns a path beneath the mount.
func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

// content returns what the database has at a path.
func (f *fixture) content(path string) string {
	f.t.Helper()
	record, err := f.db.Tree().Resolve(path)
	if err != nil {
		f.t.Fatal(err)
	}
	reader, err := f.db.Tree().Open(record.Digest)
	if err != nil {
		f.t.Fatal(err)
	}
	defer reader.Close()
	b := make([]byte, reader.Size())
	if _, err := reader.ReadAt(b, 0); err != nil && len(b) > 0 {
		f.t.Fatal(err)
	}
	return string(b)
}

// revision returns the latest revision.
func (f *fixture) revision() int64 {
	f.t.Helper()
	info, err := f.db.Info()
	if err != nil {
		f.t.Fatal(err)
	}
	return info.LastRevision
}

// sh runs a script in the mount, which must succeed, and returns what it prints.
func (f *fixture) sh(script string) string {
	f.t.Helper()
	cmd := exec.CommandContext(f.t.Context(), "sh", "-euc", script)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, out[max(0, len(out)-4000):])
	}
	return string(out)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

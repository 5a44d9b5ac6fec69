package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
)

// childFlag makes this program run one memory case in a process of its own, whose
// peak the parent reads.
const childFlag = "-child"

// memory measures the peak resident memory of large work over that of an idle
// database. A child starts at idle, says so, works, and says its peak.
func memory(b *bench) error {
	for _, c := range []struct{ name, what string }{
		{"upload", "memory over idle, MiB: upload of 10 times the size"},
		{"list", "memory over idle, MiB: listing a directory of one million"},
		{"import", "memory over idle, MiB: import of 100,000 files"},
	} {
		dir := filepath.Join(b.dir, "memory")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := (memoryChild{dir: dir, size: 10 * b.size}).prepare(c.name); err != nil {
			return err
		}
		start := time.Now()
		cmd := exec.CommandContext(b.ctx, os.Args[0], childFlag, c.name, dir, strconv.FormatInt(10*b.size, 10))
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		var idle, peak int64
		if _, err := fmt.Sscan(string(out), &idle, &peak); err != nil {
			return fmt.Errorf("%s: %q: %w", c.name, out, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		b.add(row{
			what: c.what, ratio: float64(peak-idle) / (1 << 20), bar: 64, atMost: true,
			details: fmt.Sprintf("idle %s, peak %s, %.1f s", bytesText(idle), bytesText(peak), time.Since(start).Seconds()),
		})
	}
	return nil
}

type memoryChild struct {
	dir  string
	size int64
}

func runChild(args []string) error {
	if len(args) != 3 {
		return errors.New("a child needs a case, a directory and a size")
	}
	size, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	child := memoryChild{args[1], size}
	db, err := openDB(child.path())
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Tree().Resolve("/"); err != nil {
		return err
	}
	debug.FreeOSMemory()
	idle, err := resident("VmRSS:")
	if err != nil {
		return err
	}
	if err := child.work(args[0], db); err != nil {
		return err
	}
	peak, err := resident("VmHWM:")
	if err != nil {
		return err
	}
	fmt.Println(idle, peak)
	return nil
}

func (c memoryChild) path() string { return filepath.Join(c.dir, "db.stardust") }

// prepare makes what a case works on, outside the process that is measured.
func (c memoryChild) prepare(name string) error {
	db, err := openDB(c.path())
	if err != nil {
		return err
	}
	if name == "list" {
		_, err = makeFiles(db, 1_000_000)
	}
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}

func (c memoryChild) work(name string, db *stardust.DB) error {
	switch name {
	case "upload":
		stream, err := db.Tree().Upload()
		if err != nil {
			return err
		}
		defer stream.Close()
		if _, err := io.Copy(stream, randomReader(3, c.size)); err != nil {
			return err
		}
		_, err = stream.Finish()
		return err
	case "list":
		count := 0
		for _, err := range db.Tree().Children(0) {
			if err != nil {
				return err
			}
			count++
		}
		if count != 1_000_000 {
			return fmt.Errorf("listed %d", count)
		}
		return nil
	case "import":
		report, err := db.Tree().Import(context.Background(), syntheticFS{100, 1000}, 0, nil)
		if err == nil && (report.Files != 100_000 || report.Failed > 0) {
			err = fmt.Errorf("imported %+v", report)
		}
		return err
	}
	return fmt.Errorf("no case %q", name)
}

// resident reads a line of the process's status, in bytes.
func resident(label string) (int64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), label); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in the process's status", label)
}

// syntheticFS is a tree of small files that takes no space: so many directories
// with so many files each.
type syntheticFS struct{ directories, files int }

type syntheticFile struct {
	*strings.Reader
	name string
	mode fs.FileMode
	fsys syntheticFS
	next int
}

func (s syntheticFS) Open(name string) (fs.File, error) {
	if name == "." || !strings.Contains(name, "/") {
		return &syntheticFile{strings.NewReader(""), name, fs.ModeDir | 0o755, s, 0}, nil
	}
	return &syntheticFile{strings.NewReader("the content of " + name), name, 0o644, s, 0}, nil
}

func (f *syntheticFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *syntheticFile) Close() error               { return nil }
func (f *syntheticFile) Name() string               { return f.name }
func (f *syntheticFile) Mode() fs.FileMode          { return f.mode }
func (f *syntheticFile) ModTime() time.Time         { return time.Time{} }
func (f *syntheticFile) IsDir() bool                { return f.mode.IsDir() }
func (f *syntheticFile) Sys() any                   { return nil }

func (f *syntheticFile) ReadDir(n int) (entries []fs.DirEntry, err error) {
	total, mode := f.fsys.files, fs.FileMode(0o644)
	if f.name == "." {
		total, mode = f.fsys.directories, fs.ModeDir|0o755
	}
	for f.next < total && (n <= 0 || len(entries) < n) {
		child := &syntheticFile{strings.NewReader(""), fmt.Sprintf("n%04d", f.next), mode, f.fsys, 0}
		entries = append(entries, fs.FileInfoToDirEntry(child))
		f.next++
	}
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

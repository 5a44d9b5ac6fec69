package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/mount"
	"github.com/stardustdb/stardust/gateway/storemount"
	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
	memstore "github.com/stardustdb/stardust/objectstore/memory"
	"github.com/stardustdb/stardust/objectstore/throttle"
)

func mountCases() []benchCase {
	return []benchCase{
		{"mount-read", mountRead},
		{"mount-tree", mountTree},
		{"mount-mirror", mountMirror},
	}
}

// mountRead compares reading a large file on the mount with the library's verified
// read of it. Each read of the mount is of a file that was just opened, whose pages
// the kernel has not.
func mountRead(b *bench) error {
	db, err := openDB(filepath.Join(b.dir, "mount-read.stardust"))
	if err != nil {
		return err
	}
	defer db.Close()
	record, err := db.Tree().Put("big", randomReader(5, b.size), nil)
	if err != nil {
		return err
	}
	dir, unmount, err := b.mount(db, nil)
	if err != nil {
		return err
	}
	defer unmount()
	plain := filepath.Join(b.dir, "mount-read.plain")
	if err := copyFile(filepath.Join(dir, "big"), plain); err != nil {
		return err
	}
	defer os.Remove(plain)
	took, err := turns(b.ctx, b.rounds,
		step{work: func() error { return drain(db, record.Digest) }},
		step{work: func() error { return readFile(filepath.Join(dir, "big")) }},
		step{work: func() error { return readFile(plain) }})
	if err != nil {
		return err
	}
	b.add(row{
		what: "sequential read of the mount, rate of the library's verified read", ratio: median(ratios(took[0].wall, took[1].wall)), bar: 0.7,
		details: fmt.Sprintf("%.0f and %.0f MB/s; a cached file %.0f", float64(b.size)/1e6/median(took[1].wall), float64(b.size)/1e6/median(took[0].wall), float64(b.size)/1e6/median(took[2].wall)),
	})
	b.add(row{what: "the same, CPU time", ratio: median(ratios(took[1].cpu, took[0].cpu)), details: "of the process that mounts, reading included"})
	return nil
}

// mount mounts a database on a new directory until unmount is called.
func (b *bench) mount(db *stardust.DB, options *mount.Options) (dir string, unmount func(), err error) {
	if dir, err = os.MkdirTemp(b.dir, "mnt-"); err != nil {
		return "", nil, err
	}
	m, err := mount.New(db, dir, options)
	if err != nil {
		return "", nil, err
	}
	return dir, func() {
		if err := m.Unmount(); err != nil {
			fmt.Fprintln(os.Stderr, "unmount:", err)
		}
	}, nil
}

func readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := make([]byte, 1<<20)
	for {
		if _, err := f.Read(buffer); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

// mountMirror compares a bucket whose every call takes 20 ms, mounted as it is,
// with the same mounted through a mirror that has nothing yet, and one that was
// read before.
func mountMirror(b *bench) error {
	const files, size, large = 200, 16 << 10, 64 << 20
	inner := memstore.New(nil)
	for i := range files {
		path := objectstore.Path(fmt.Sprintf("tree/%02d/file-%03d", i%10, i))
		if _, err := inner.Put(b.ctx, path, objectstore.Bytes(random(byte(i), size)), nil); err != nil {
			return err
		}
	}
	if _, err := inner.Put(b.ctx, "large", objectstore.Bytes(random(1, large)), nil); err != nil {
		return err
	}
	remote := throttle.New(inner, throttle.Options{Latency: 20 * time.Millisecond})
	warm, err := mirror.Open(b.ctx, filepath.Join(b.dir, "mount-warm"), remote, &mirror.KeepAll{}, &mirror.Options{WithoutRemoteScan: true, Verify: true})
	if err != nil {
		return err
	}
	defer warm.Close()
	if err := mirror.Warm(b.ctx, warm.Handle(), ""); err != nil {
		return err
	}
	over := func(store objectstore.Store, script string) error {
		dir, err := os.MkdirTemp(b.dir, "mnt-")
		if err != nil {
			return err
		}
		m, err := storemount.New(store, dir, nil)
		if err != nil {
			return err
		}
		if _, err := b.script(dir, script); err != nil {
			return err
		}
		return m.Unmount()
	}
	round := 0
	for _, c := range []struct{ what, script string }{
		{"tar of 200 files of 16 KiB in 10 directories", "tar cf - tree | cat >/dev/null"},
		{"cat of 64 MiB", "cat large >/dev/null"},
		{"find", "find . -type f -size +1 | wc -l"},
	} {
		took, err := turns(b.ctx, b.rounds,
			step{work: func() error { return over(remote, c.script) }},
			step{work: func() error {
				round++
				cold, err := mirror.Open(b.ctx, filepath.Join(b.dir, fmt.Sprintf("mount-cold-%d", round)), remote, &mirror.KeepAll{WithoutWarming: true}, &mirror.Options{WithoutRemoteScan: true, Verify: true})
				if err != nil {
					return err
				}
				defer cold.Close()
				return over(cold, c.script)
			}},
			step{work: func() error { return over(warm, c.script) }})
		if err != nil {
			return err
		}
		direct := took[0].wall
		b.add(row{
			what: "a bucket at 20 ms mounted through its warm mirror: " + c.what + ", time of the bucket itself", ratio: median(ratios(took[2].wall, direct)),
			details: fmt.Sprintf("%.2f s and %.2f s; a mirror that is empty at first %.2f s", median(took[2].wall), median(direct), median(took[1].wall)),
		})
	}
	return nil
}

// script runs a script of the shell and returns what it prints.
func (b *bench) script(dir, script string) (string, error) {
	cmd := b.command("sh", "-euc", script)
	cmd.Dir = dir
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, complaints.String())
	}
	return string(out), nil
}

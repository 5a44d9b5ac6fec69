package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/mount"
)

func (b *bench) command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(b.ctx, name, args...)
}

// mounter is a program that mounts what it stored.
type mounter struct {
	peer
	mount func(repository, dir string) []string
	// below is where the tree is beneath the mount.
	below  func(source string) string
	stored *stored // once it is
}

func mounters() []mounter {
	return []mounter{
		{
			peer:  restic,
			mount: func(r, dir string) []string { return []string{"-q", "-r", r, "mount", dir} },
			below: func(source string) string { return "snapshots/latest" + source },
		},
		{
			peer:  borg,
			mount: func(r, dir string) []string { return []string{"mount", "-f", r + "::a", dir} },
			below: func(source string) string { return strings.TrimPrefix(source, "/") },
		},
	}
}

// The work of these cases, in the tree.
const (
	findTree = "find . -type f -printf '%s %m %T@ %p\\n' | wc -l"
	tarTree  = "tar cf - . | cat >/dev/null"
)

// mountTree compares find and tar of Go's own source tree on the mount with those
// on the mounts of peers. Each step mounts anew, so that no kernel's cache helps, and
// only the work counts.
func mountTree(b *bench) error {
	source, err := b.goSource()
	if err != nil {
		return err
	}
	db, err := openDB(filepath.Join(b.dir, "mount-tree.stardust"))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Tree().Import(b.ctx, os.DirFS(source), 0, nil); err != nil {
		return err
	}
	var peers []mounter
	for _, m := range mounters() {
		if m.stored, err = m.store(b, source); err != nil {
			return err
		}
		if m.stored != nil {
			defer m.stored.remove()
			peers = append(peers, m)
		}
	}
	for _, script := range []string{findTree, tarTree} {
		what, _, _ := strings.Cut(script, " ")
		steps := []step{b.ourTree(func() (string, func(), error) { return b.mount(db, &mount.Options{ReadOnly: true}) }, script)}
		for _, p := range peers {
			steps = append(steps, b.theirTree(&p, source, script))
		}
		steps = append(steps, step{work: func() error { _, err := b.script(source, script); return err }})
		took, err := turns(b.ctx, b.rounds, steps...)
		if err != nil {
			return err
		}
		for i, p := range peers {
			theirs := took[i+1].wall
			b.add(row{
				what: what + " of Go's source tree on the mount, time on that of " + p.name, ratio: median(ratios(took[0].wall, theirs)), bar: 1, atMost: true,
				details: fmt.Sprintf("%.2f s and %.2f s; on disk %.2f s", median(took[0].wall), median(theirs), median(took[len(took)-1].wall)),
			})
		}
	}
	return nil
}

func (b *bench) ourTree(mount func() (string, func(), error), script string) step {
	var dir string
	var unmount func()
	return step{
		before: func() (err error) { dir, unmount, err = mount(); return err },
		work:   func() error { _, err := b.script(dir, script); return err },
		after:  func() error { unmount(); return nil },
	}
}

// theirTree is a step on a peer's mount.
func (b *bench) theirTree(m *mounter, source, script string) step {
	var dir string
	var cmd *exec.Cmd
	return step{
		before: func() (err error) {
			if dir, err = os.MkdirTemp(b.dir, "mnt-"); err != nil {
				return err
			}
			cmd = m.stored.command(b, m.mount(m.stored.repository, dir))
			if err := cmd.Start(); err != nil {
				return err
			}
			return b.waitFor(filepath.Join(dir, m.below(source)))
		},
		work: func() error { _, err := b.script(filepath.Join(dir, m.below(source)), script); return err },
		after: func() error {
			out, err := b.command("fusermount3", "-u", dir).CombinedOutput()
			if err != nil {
				return fmt.Errorf("fusermount3: %w: %s", err, out)
			}
			_ = cmd.Wait() // however it ends
			return nil
		},
	}
}

// waitFor waits until there is a directory.
func (b *bench) waitFor(dir string) error {
	for range 600 {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
		select {
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return errors.New(dir + " is not there")
}

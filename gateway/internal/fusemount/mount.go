//go:build linux

// Package fusemount puts a file system on a directory by FUSE and takes it away
// again, for the gateways that show something as files.
package fusemount

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount is a directory that shows a file system.
type Mount struct {
	server *fuse.Server
	dir    string
}

// New mounts root on a directory. It returns once programs can use it.
//
// It returns an error when the directory can't be mounted on: it is missing or no
// directory, /dev/fuse or the program fusermount3 is missing, or the system
// refuses.
func New(dir string, root fs.InodeEmbedder, options *fs.Options) (*Mount, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &os.PathError{Op: "mount", Path: dir, Err: syscall.ENOTDIR}
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return nil, fmt.Errorf("this system has no FUSE (load the module fuse, or give the container /dev/fuse): %w", err)
	}
	if options.Logger == nil {
		options.Logger = log.New(io.Discard, "", 0)
	}
	server, err := fs.Mount(dir, root, options)
	if err != nil {
		return nil, fmt.Errorf("mount %s: %w", dir, err)
	}
	return &Mount{server, dir}, nil
}

// Wait returns when the directory is mounted no more, be it by Unmount or by the
// system's umount, and no call is under way.
func (m *Mount) Wait() { m.server.Wait() }

// Unmount takes the file system away. When programs have files open there, it
// takes it out of the tree, so that their calls fail from then on, and does not wait
// for them.
func (m *Mount) Unmount() error {
	refused := m.server.Unmount()
	if refused == nil {
		m.server.Wait()
		return nil
	}
	if err := detach(m.dir); err != nil {
		return errors.Join(refused, err)
	}
	return nil
}

// detach takes a directory that is in use out of the tree. The kernel ends the
// mount when its last user is gone; to wait for that could take forever, and the
// end of the process ends it, too.
func detach(dir string) error {
	if err := syscall.Unmount(dir, syscall.MNT_DETACH|mntForce); err == nil {
		return nil
	}
	out, err := exec.Command("fusermount3", "-u", "-z", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fusermount3: %w: %s", err, out)
	}
	return nil
}

// mntForce ends requests that wait; the kernel's name is MNT_FORCE.
const mntForce = 1

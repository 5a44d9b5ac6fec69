package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

func newMirrorCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mirror",
		Short: "Keep a complete local copy of the objects that matter in a bucket",
		Long: `Keep a complete local copy of the objects that matter in a bucket: reads are local,
writes are durable in the bucket before they return. serve puts the mirror behind an
S3 endpoint; the other commands work on a mirror's directory while nothing else has
it open.`,
		Args:    arguments(0, -1),
		GroupID: groupRemote,
		RunE:    runGroup,
	}
	cmd.AddCommand(
		newMirrorServeCommand(e), newMirrorMountCommand(e), newMirrorWarmCommand(e), newMirrorStatusCommand(e),
		newMirrorVerifyCommand(e), newMirrorEvictCommand(e), newMirrorScanCommand(e))
	return cmd
}

// mirrorFlags say which mirror a command works on.
type mirrorFlags struct {
	upstream  string
	dir       string
	policy    policyFlags
	identity  string
	downloads int
	scan      time.Duration
}

func (f *mirrorFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.upstream, "upstream", "", "URL of the store to mirror, such as s3://bucket")
	flags.StringVar(&f.dir, "dir", "", "directory of the local copies; made when it is missing")
	flags.StringVar(&f.identity, "identity", "", "name of the mirrored store as the directory's LOCK has it, if that was made under another URL of the store")
	flags.IntVar(&f.downloads, "downloads", mirror.DefaultDownloadConcurrency, "download with this many requests at a time")
}

// check refuses flags that are missing or make no sense.
func (f *mirrorFlags) check() error {
	switch {
	case f.upstream == "":
		return usagef("--upstream is missing: the URL of the store to mirror")
	case f.dir == "":
		return usagef("--dir is missing: the directory of the local copies")
	case f.downloads < 1 || f.downloads > maxDownloads:
		return usagef("--downloads %d: it can be 1 to %d", f.downloads, maxDownloads)
	}
	return nil
}

// maxDownloads bounds --downloads: each is a connection.
const maxDownloads = 1024

// look opens an existing mirror to work on its local copies.
func (f *mirrorFlags) look(ctx context.Context, e *env, fn func(*mirror.Mirror) error) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(f.dir, mirror.LockName)); err != nil {
		if !isMissing(err) {
			return err
		}
		if _, err := os.Stat(f.dir); err != nil {
			return aboutStore(f.dir, errors.New("there is no such directory; mirror warm and mirror serve make it"))
		}
		return aboutStore(f.dir, errors.New("is not the directory of a mirror"))
	}
	return f.open(ctx, e, &mirror.KeepAll{WithoutWarming: true}, fn)
}

// open opens the mirror and calls fn with it.
func (f *mirrorFlags) open(ctx context.Context, e *env, policy mirror.Policy, fn func(*mirror.Mirror) error) error {
	return f.openWith(ctx, e, policy, mirror.Options{WithoutRemoteScan: true, Verify: true, Logger: e.logger()}, fn)
}

// openWith is open with options, to which it adds what flags say of every mirror.
func (f *mirrorFlags) openWith(ctx context.Context, e *env, policy mirror.Policy, options mirror.Options, fn func(*mirror.Mirror) error) error {
	options.Identity, options.DownloadConcurrency, options.MaxRetries = f.identity, f.downloads, commandRetries
	return e.withStore(ctx, f.upstream, func(store objectstore.Store) (err error) {
		m, err := mirror.Open(ctx, f.dir, store, policy, &options)
		if err != nil {
			return aboutStore(f.dir, err)
		}
		defer func() {
			if closed := m.Close(); err == nil {
				err = aboutStore(f.dir, closed)
			}
		}()
		return fn(m)
	})
}

// commandRetries is how often a command repeats a call that failed for a
// passing reason; somebody is waiting for the outcome.
const commandRetries = 8

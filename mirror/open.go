package mirror

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/objectstore"
)

// LockName is the file that marks a directory as a mirror's (RFC 0034,
// Filesystem layout).
const LockName = local.LockName

// Open opens the directory dir as a Mirror of remote that keeps what policy says
// (ObjectStoreMirrorBuilder in RFC 0034). It makes the directory when it is
// missing, takes its lock, cleans it up, and starts the remote scan and
// Policy.Run (RFC 0034, Startup). A relative dir counts from the working
// directory. nil options are the defaults. ctx bounds Open only; the caller
// closes the Mirror, and the remote afterwards.
//
// It returns [InvalidConfig] for an invalid option, a directory in use by
// another mirror, of another remote, or of a newer format, all of which it
// leaves as they are, and [Local] when the directory cannot be made or read.
func Open(ctx context.Context, dir string, remote objectstore.Store, policy Policy, options *Options) (*Mirror, error) {
	invalid := func(err error) error {
		return (&Mirror{name: "mirror in " + dir}).fail(objectstore.OpOpen, "", err)
	}
	message := ""
	switch {
	case dir == "":
		message = "the local directory has no name"
	case remote == nil:
		message = "there is no remote store"
	case policy == nil:
		message = "there is no policy"
	}
	if message != "" {
		return nil, invalid(&InvalidConfig{Message: message})
	}
	if options != nil {
		if err := options.check(); err != nil {
			return nil, invalid(err)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, invalid(local.Fail("find the directory", "", err))
	}
	m := assemble(dir, remote, policy, options.normalize(remote))
	if err := m.options.VFS.MkdirAll(dir); err != nil {
		return nil, invalid(local.Fail("make the directory", "", err))
	}
	m.lock, err = local.Lock(m.options.VFS, filepath.Join(dir, local.LockName), m.options.Identity)
	if err != nil {
		if refused, ok := errors.AsType[*local.Refusal](err); ok {
			err = &InvalidConfig{Message: refused.Message, Source: refused.Source}
		}
		return nil, invalid(err)
	}
	rest, err := m.recover(ctx)
	if err != nil {
		m.local.Files.Close()
		return nil, errors.Join(invalid(err), m.lock.Close())
	}
	m.run(rest)
	return m, nil
}

// assemble makes the parts of a Mirror, which do nothing yet.
func assemble(dir string, remote objectstore.Store, policy Policy, o Options) *Mirror {
	m := &Mirror{
		name:   "mirror of " + remote.String(),
		remote: remote, policy: policy, options: o, logger: o.Logger,
		ordering: newOrdering(),
	}
	m.local = local.New(o.VFS, dir, o.Clock, o.Logger, o.MaxIdleFiles, o.Verify)
	if watcher, ok := policy.(LocalWatcher); ok {
		m.local.Installed = func(path objectstore.Path, size int64) { watcher.Installed(path, size, Handle{m}) }
		m.local.Removed = watcher.Removed
	}
	m.retry = &retrier{
		clock: o.Clock, backoff: o.Backoff, random: o.Random, max: o.MaxRetries,
		shrink: m.local.Files.Shrink,
		retried: func(err error) {
			bump(&m.counters.DownloadRetries, 1)
			o.Logger.Debug("remote call is repeated", "error", err)
		},
	}
	m.downloads = &downloader{
		remote: remote, local: m.local, ordering: m.ordering, retry: m.retry,
		stats: &m.counters, logger: o.Logger, fail: m.fail, limit: o.DownloadConcurrency, stall: o.StallTimeout,
		running: map[*flight]context.CancelFunc{},
	}
	if admitter, ok := policy.(Admitter); ok {
		m.downloads.admit = admitter.Admit
	}
	m.evictions = &evictor{local: m.local, ordering: m.ordering, stats: &m.counters}
	m.scanner = &scanner{m: m}
	return m
}

// recover reads the directory. What is left to clean up is in the recovery
// returned.
func (m *Mirror) recover(ctx context.Context) (*local.Recovery, error) {
	r, err := m.local.Recover(ctx)
	if err != nil {
		return nil, err
	}
	if r.Result.FromIndex == r.Result.Recovered && r.Result.Invalid+r.Result.Unreadable == 0 {
		// The index on disk is as good as the one that would be written.
		_, _, changes := m.local.Index.Totals()
		m.savedIndex.Store(changes)
	}
	m.startup = r.Result
	m.logger.Info("mirror is open", "directory", m.local.Dir, "remote", m.options.Identity,
		"recovered", r.Result.Recovered, "from_index", r.Result.FromIndex,
		"invalid", r.Result.Invalid, "unreadable", r.Result.Unreadable, "temporary", r.Result.Temporary)
	r.Announce()
	return r, nil
}

// run starts the background work.
func (m *Mirror) run(rest *local.Recovery) {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	if rest.Unfinished() {
		m.background.Go(func() { rest.Finish(ctx) })
	}
	if !m.options.WithoutRemoteScan {
		m.background.Go(func() { m.scanner.loop(ctx, m.options.RemoteScanInterval) })
	}
	m.background.Go(func() { m.keepIndex(ctx) })
	m.background.Go(func() { m.expireUploads(ctx) })
	m.background.Go(func() {
		if err := m.policy.Run(ctx, Handle{m}); err != nil && ctx.Err() == nil {
			m.logger.Error("the policy's background work ended", "error", err)
		}
	})
}

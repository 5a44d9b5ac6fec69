package mirror

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/stardustdb/stardust/objectstore"
)

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
		return nil, invalid(local("find the directory", "", err))
	}
	m := assemble(dir, remote, policy, options.normalize(remote))
	if err := m.options.VFS.MkdirAll(dir); err != nil {
		return nil, invalid(local("make the directory", "", err))
	}
	m.lock, err = takeLock(m.options.VFS, filepath.Join(dir, LockName), m.options.Identity)
	if err != nil {
		return nil, invalid(err)
	}
	rest, err := m.recover(ctx)
	if err != nil {
		m.local.files.close()
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
	m.local = &localDir{
		fs: o.VFS, dir: dir, layout: newLayout(), index: newIndex(),
		files: &openFiles{fs: o.VFS, clock: o.Clock, maxIdle: o.MaxIdleFiles, verify: o.Verify},
		stats: &m.counters, logger: o.Logger, handle: Handle{m},
	}
	if watcher, ok := policy.(LocalWatcher); ok {
		m.local.watcher = watcher
	}
	m.retry = &retrier{
		clock: o.Clock, backoff: o.Backoff, random: o.Random, max: o.MaxRetries,
		shrink: m.local.files.shrink,
		retried: func(err error) {
			m.counters.downloadRetries.Add(1)
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
func (m *Mirror) recover(ctx context.Context) (*recovery, error) {
	r := &recovery{d: m.local, pairs: map[fileName]pair{}}
	if err := r.list(ctx); err != nil {
		return nil, err
	}
	r.removeTemps(ctx, tempsAtOnce)
	if err := r.fromIndex(ctx); err != nil {
		return nil, err
	}
	if err := r.fromMeta(ctx); err != nil {
		return nil, err
	}
	if r.result.FromIndex == r.result.Recovered && r.result.Invalid+r.result.Unreadable == 0 {
		// The index on disk is as good as the one that would be written.
		_, _, changes := m.local.index.totals()
		m.savedIndex.Store(changes)
	}
	m.startup = r.result
	m.logger.Info("mirror is open", "directory", m.local.dir, "remote", m.options.Identity,
		"recovered", r.result.Recovered, "from_index", r.result.FromIndex,
		"invalid", r.result.Invalid, "unreadable", r.result.Unreadable, "temporary", r.result.Temporary)
	r.announce()
	return r, nil
}

// run starts the background work.
func (m *Mirror) run(rest *recovery) {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	if len(rest.temps) > 0 {
		m.background.Go(func() { rest.removeTemps(ctx, -1) })
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

package mirror

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"

	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// validate returns InvalidConfig for an option that can't be.
func (b *Builder) validate() error {
	c := b.config
	var message string
	switch {
	case b.dir == "":
		message = "the local directory has no name"
	case b.remote == nil:
		message = "there is no remote store"
	case b.policy == nil:
		message = "there is no policy"
	case c.concurrency < 1:
		message = "the download concurrency is less than 1"
	case c.scan && c.scanInterval <= 0:
		message = "the remote scan interval is not positive; turn the scan off with WithoutRemoteScan"
	case c.indexInterval <= 0:
		message = "the index interval is not positive"
	case c.maxIdleFiles < 0:
		message = "the number of idle files is negative"
	default:
		return nil
	}
	return &InvalidConfig{Message: message}
}

// normalize fills in the defaults.
func (c config) normalize(remote objectstore.Store) config {
	if c.fs == nil {
		c.fs = vfs.OS{}
		// Leave most descriptors to connections and the files in use.
		c.maxIdleFiles = min(c.maxIdleFiles, vfs.OpenFileLimit()/4)
	}
	if c.clock == nil {
		c.clock = SystemClock{}
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	if c.random == nil {
		c.random = rand.Float64
	}
	if c.identity == "" {
		c.identity = remote.String()
	}
	return c
}

// build implements Build.
func (b *Builder) build(ctx context.Context) (*Mirror, error) {
	invalid := func(err error) error {
		return (&Mirror{name: "mirror in " + b.dir}).fail("build", "", err)
	}
	if err := b.validate(); err != nil {
		return nil, invalid(err)
	}
	dir, err := filepath.Abs(b.dir)
	if err != nil {
		return nil, invalid(local("find the directory", "", err))
	}
	m := b.assemble(dir)
	if err := m.config.fs.MkdirAll(dir); err != nil {
		return nil, invalid(local("make the directory", "", err))
	}
	m.lock, err = takeLock(m.config.fs, filepath.Join(dir, lockName), m.config.identity)
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
func (b *Builder) assemble(dir string) *Mirror {
	c := b.config.normalize(b.remote)
	m := &Mirror{
		name:   "mirror of " + b.remote.String(),
		remote: b.remote, policy: b.policy, config: c, logger: c.logger,
		ordering: newOrdering(),
	}
	m.local = &localDir{
		fs: c.fs, dir: dir, layout: newLayout(), index: newIndex(),
		files: &openFiles{fs: c.fs, clock: c.clock, maxIdle: c.maxIdleFiles, verify: c.verify},
		stats: &m.counters, logger: c.logger, handle: Handle{m},
	}
	if watcher, ok := b.policy.(LocalWatcher); ok {
		m.local.watcher = watcher
	}
	m.retry = &retrier{
		clock: c.clock, backoff: c.backoff, random: c.random, max: c.maxRetries,
		shrink: m.local.files.shrink,
		retried: func(err error) {
			m.counters.downloadRetries.Add(1)
			c.logger.Debug("remote call is repeated", "error", err)
		},
	}
	m.downloads = &downloader{
		remote: b.remote, local: m.local, ordering: m.ordering, retry: m.retry,
		stats: &m.counters, logger: c.logger, fail: m.fail, limit: c.concurrency,
		running: map[*flight]context.CancelFunc{},
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
	if r.result.FromIndex == r.result.Recovered && r.result.Invalid == 0 {
		// The index on disk is as good as the one that would be written.
		_, _, changes := m.local.index.totals()
		m.savedIndex.Store(changes)
	}
	m.startup = r.result
	m.logger.Info("mirror is open", "directory", m.local.dir, "remote", m.config.identity,
		"recovered", r.result.Recovered, "from_index", r.result.FromIndex,
		"invalid", r.result.Invalid, "temporary", r.result.Temporary)
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
	if m.config.scan {
		m.background.Go(func() { m.scanner.loop(ctx, m.config.scanInterval) })
	}
	m.background.Go(func() { m.keepIndex(ctx) })
	m.background.Go(func() {
		if err := m.policy.Run(ctx, Handle{m}); err != nil && ctx.Err() == nil {
			m.logger.Error("the policy's background work ended", "error", err)
		}
	})
}

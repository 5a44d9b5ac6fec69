package mirror

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/stardustdb/stardust/mirror/internal/local"
	"github.com/stardustdb/stardust/mirror/vfs"
	"github.com/stardustdb/stardust/objectstore"
)

// A Mirror is an objectstore.Store in front of another, the remote, with local
// copies of the objects that its policy chooses. Make one with [Open].
// All methods may be called concurrently. The caller closes it.
//
// It is an objectstore.MultipartStore, BulkDeleter and TagReader if the remote
// is one; otherwise those methods return objectstore.ErrUnsupported.
type Mirror struct {
	name    string
	remote  objectstore.Store
	policy  Policy
	options Options
	logger  *slog.Logger

	local     *local.Dir
	ordering  *ordering
	downloads *downloader
	evictions *evictor
	retry     *retrier
	scanner   *scanner
	startup   local.StartupResult
	uploads   uploads
	counters  counters

	lock       vfs.Lock
	savedIndex atomic.Uint64 // index.changes at the last save
	stop       context.CancelFunc
	background sync.WaitGroup

	closed atomic.Bool
	gate   gate
}

var (
	_ objectstore.MultipartStore = (*Mirror)(nil)
	_ objectstore.BulkDeleter    = (*Mirror)(nil)
	_ objectstore.TagReader      = (*Mirror)(nil)
)

// String names the mirror and its remote.
func (m *Mirror) String() string { return m.name }

// Handle returns the handle that the policy works with.
func (m *Mirror) Handle() Handle { return Handle{m} }

// List implements objectstore.Store: it lists the remote.
func (m *Mirror) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if m.closed.Load() {
		return func(yield func(objectstore.ObjectMeta, error) bool) {
			yield(objectstore.ObjectMeta{}, m.fail(objectstore.OpList, "", objectstore.ErrClosed))
		}
	}
	return m.remote.List(ctx, options)
}

// ListWithDelimiter implements objectstore.Store: it lists the remote.
func (m *Mirror) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if m.closed.Load() {
		return nil, m.fail(objectstore.OpList, "", objectstore.ErrClosed)
	}
	return m.remote.ListWithDelimiter(ctx, options)
}

// Copy fails with [Unsupported]: it could overwrite a mirrored path.
func (m *Mirror) Copy(_ context.Context, from, _ objectstore.Path, _ *objectstore.CopyOptions) error {
	return m.fail(objectstore.OpCopy, from, &Unsupported{"copy"})
}

// Rename fails with [Unsupported]: it could overwrite a mirrored path, and
// would leave the source's local copy behind.
func (m *Mirror) Rename(_ context.Context, from, _ objectstore.Path, _ *objectstore.CopyOptions) error {
	return m.fail(objectstore.OpRename, from, &Unsupported{"rename"})
}

// Tags implements objectstore.TagReader: it asks the remote.
func (m *Mirror) Tags(ctx context.Context, path objectstore.Path) (map[string]string, error) {
	tagger, ok := m.remote.(objectstore.TagReader)
	switch {
	case m.closed.Load():
		return nil, m.fail(objectstore.OpTags, path, objectstore.ErrClosed)
	case !ok:
		return nil, m.fail(objectstore.OpTags, path, fmt.Errorf("%w: %s has no tags", objectstore.ErrUnsupported, m.remote))
	}
	return tagger.Tags(ctx, path)
}

// contains implements Handle.Contains.
func (m *Mirror) contains(path objectstore.Path) bool { return m.local.Contains(path) }

// entries implements Handle.Entries.
func (m *Mirror) entries() iter.Seq[objectstore.ObjectMeta] {
	return func(yield func(objectstore.ObjectMeta) bool) {
		for _, x := range m.local.Index.All() {
			if !yield(x.Entry.Meta(x.Path)) {
				return
			}
		}
	}
}

// stats implements Handle.Stats.
func (m *Mirror) stats() Stats {
	s := Stats{Counters: m.counters.load(), Startup: m.startup, LastScan: m.scanner.lastResult()}
	s.LocalErrors, s.StaleEntriesDropped = m.local.Tally.Errors.Load(), m.local.Tally.Dropped.Load()
	s.Objects, s.Bytes, _ = m.local.Index.Totals()
	s.OpenFiles = m.local.Files.Count()
	s.Downloads, _ = m.downloads.progress()
	s.Uploads, s.UploadBytes = m.uploads.totals()
	s.ClaimedNames = m.local.Layout.Count()
	s.Leftovers = m.local.Leftovers.Count()
	paths, counts := m.ordering.load()
	s.BusyPaths = paths
	s.QueuedDownloads = max(0, counts[turnDownload]-len(s.Downloads))
	s.PendingEvictions = counts[turnEvict]
	return s
}

// enter lets a call that changes something in, unless the mirror is closed.
// The caller calls the function returned at its end.
func (m *Mirror) enter(op string, path objectstore.Path) (leave func(), err error) {
	if !m.gate.enter() {
		return nil, m.fail(op, path, objectstore.ErrClosed)
	}
	return m.gate.leave, nil
}

// takeTurn waits for a turn on every path, all taken at this moment. The
// caller calls the function returned to end them.
func (m *Mirror) takeTurn(ctx context.Context, kind turnKind, paths ...objectstore.Path) (release func(), err error) {
	turns := make([]*turn, len(paths))
	ready := make([]chan struct{}, len(paths))
	for i, path := range paths {
		ready[i] = make(chan struct{})
		turns[i] = &turn{path: path, kind: kind, start: func() { close(ready[i]) }}
	}
	m.ordering.enqueue(turns...)
	for i := range turns {
		select {
		case <-ready[i]:
		case <-ctx.Done():
			for _, t := range turns {
				m.ordering.cancel(t)
			}
			return nil, ctx.Err()
		}
	}
	for _, t := range turns {
		// Only this function cancels them.
		m.ordering.begin(t)
	}
	return func() {
		for _, t := range turns {
			m.ordering.finish(t)
		}
	}, nil
}

// Close refuses further calls, waits for writes, deletes and uploads in
// progress, stops downloads, evictions, the remote scan and Policy.Run and
// waits for their end, writes the startup index and releases LOCK. Bodies that
// are still open stay readable until they are closed. A second Close does
// nothing.
//
// Its error is a [Local]; the directory is usable again all the same.
func (m *Mirror) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	m.stop()
	m.downloads.close()
	m.gate.close()
	m.background.Wait()
	m.sweep()
	m.evictions.close()
	m.uploads.close()
	err := m.saveIndex()
	m.local.Files.Close()
	if e := m.lock.Close(); e != nil {
		err = errors.Join(err, local.Fail("release LOCK", "", e))
	}
	if err != nil {
		return m.fail("close", "", err)
	}
	return nil
}

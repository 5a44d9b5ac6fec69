package slatedb

import (
	"context"
	"iter"
	"log/slog"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/mirror"
	"github.com/stardustdb/stardust/objectstore"
)

// observeCompactions downloads the SSTs that a worker reads before it resumes a
// compaction, before the worker learns of it. It retains and evicts nothing.
// Errors are logged and not returned: they concern only the resumed compaction
// (RFC 0034, Manifest Processing).
func (p *Policy) observeCompactions(ctx context.Context, name Name, data []byte, handle mirror.Handle) error {
	log := p.options.Logger.With(slog.String("path", string(name.Path())))
	cs, err := decodeCompactionsAt(name.Path(), name.Number, data)
	if err != nil {
		log.Warn("compactions that cannot be decoded are not warmed", slog.Any("error", err))
		return nil
	}
	newest := p.state.view().newest
	selects := p.selector(newest)
	if newest == nil {
		// The worker reads a manifest before it resumes, which may select any
		// segment.
		selects = func([]byte) bool { return true }
	}
	if err := p.fetch(ctx, handle, p.outputs(name.Root, cs.ResumePoints(), selects)); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		log.Warn("cannot download what a resumed compaction reads", slog.Any("error", err))
	}
	return nil
}

// outputs collects those outputs of compactions whose segment is selected.
// Outputs lie under the database's own root.
func (p *Policy) outputs(root objectstore.Path, ssts iter.Seq2[[]byte, ulid.ULID], selects func(segment []byte) bool) sstSet {
	home := p.state.owners.number(root)
	var refs []sstRef
	for segment, id := range ssts {
		if selects(segment) {
			refs = append(refs, newSSTRef(home, id))
		}
	}
	return newSSTSet(refs)
}

// Run implements mirror.Policy: once the root is known it polls .compactions and
// downloads the output of active compactions in the background, so that the
// manifest which finally references it has little left to wait for (RFC 0034,
// Warming). Errors are logged; the next poll tries again. It returns when ctx
// ends.
func (p *Policy) Run(ctx context.Context, handle mirror.Handle) error {
	if p.options.WithoutCompactionsPoll {
		return nil
	}
	select {
	case <-p.state.rooted:
	case <-ctx.Done():
		return ctx.Err()
	}
	poll := compactionsPoll{policy: p, root: p.state.view().root}
	for {
		if err := poll.once(ctx, handle); err != nil && ctx.Err() == nil {
			p.options.Logger.Warn("cannot read compactions; will try again",
				slog.String("root", string(poll.root)), slog.Any("error", err))
		}
		if err := p.options.Clock.Sleep(ctx, p.options.CompactionsPollInterval); err != nil {
			return err
		}
	}
}

// compactionsPoll reads the newest .compactions object again and again.
type compactionsPoll struct {
	policy *Policy
	root   objectstore.Path
	latest *Compactions // nil before the first
}

func (c *compactionsPoll) once(ctx context.Context, handle mirror.Handle) error {
	if err := c.read(ctx, handle); err != nil {
		return err
	}
	if c.latest == nil {
		return nil
	}
	p := c.policy
	// Even if nothing is new: a download may have failed since.
	outputs := p.outputs(c.root, c.latest.ActiveOutputs(), p.selector(p.state.view().newest))
	if len(outputs) > 0 {
		handle.Prefetch(p.state.owners.paths(outputs)...)
	}
	return nil
}

// read looks for an object newer than the latest. Objects never change, so the
// listing can start there.
func (c *compactionsPoll) read(ctx context.Context, handle mirror.Handle) error {
	from := Name{Root: c.root, Kind: KindCompactions}
	if c.latest != nil {
		from.Number = c.latest.ID
	}
	var last Stored
	for stored, err := range listNumbered(ctx, handle.Remote(), from, c.latest != nil) {
		if err != nil {
			return err
		}
		last = stored
	}
	if last.Meta.Path == "" {
		return nil
	}
	data, err := handle.GetRemote(ctx, last.Meta.Path)
	if err != nil {
		return err
	}
	cs, err := decodeCompactionsAt(last.Meta.Path, last.ID, data)
	if err != nil {
		return err
	}
	c.latest = cs
	return nil
}

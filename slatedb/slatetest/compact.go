package slatetest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/slatedb"
)

// compactionsVersion is that of a SlateDB whose workers are separate processes.
const compactionsVersion = 2

// PollCompactions reads the latest compactions object.
func (p *Process) PollCompactions(ctx context.Context) error {
	cs, err := slatedb.LatestCompactions(ctx, p.store, p.options.Root)
	if err != nil {
		return err
	}
	if cs == nil {
		cs = &slatedb.Compactions{FormatVersion: compactionsVersion}
	}
	if p.compactions == nil || cs.ID > p.compactions.ID {
		p.compactions = cs
	}
	return nil
}

// updateCompactions writes the next compactions object. Change returns false
// when there is nothing to write. When another process was faster it starts over
// from that one's.
func (p *Process) updateCompactions(ctx context.Context, change func(cs *slatedb.Compactions) bool) (bool, error) {
	for {
		next := cloneCompactions(p.compactions)
		next.ID++
		if !change(next) {
			return false, nil
		}
		path := slatedb.CompactionsPath(p.options.Root, next.ID)
		err := p.create(ctx, path, EncodeCompactions(next), objectstore.Extensions{})
		if err == nil {
			p.compactions = next
			return true, nil
		}
		if !errors.Is(err, objectstore.ErrAlreadyExists) {
			return false, err
		}
		if err := p.PollCompactions(ctx); err != nil {
			return false, err
		}
	}
}

func cloneCompactions(cs *slatedb.Compactions) *slatedb.Compactions {
	c := *cs
	c.Recent = slices.Clone(cs.Recent)
	for i := range c.Recent {
		c.Recent[i].Subcompactions = slices.Clone(c.Recent[i].Subcompactions)
	}
	return &c
}

func jobByID(cs *slatedb.Compactions, id ulid.ULID) *slatedb.Compaction {
	for i := range cs.Recent {
		if cs.Recent[i].ID == id {
			return &cs.Recent[i]
		}
	}
	return nil
}

// Coordinate is one turn of the compactor's coordinator, of which a database
// has one: it schedules a compaction where L0 has grown, takes jobs from dead
// workers, and commits to the manifest what workers have finished.
func (p *Process) Coordinate(ctx context.Context) error {
	if err := errors.Join(p.Poll(ctx), p.PollCompactions(ctx)); err != nil {
		return err
	}
	for i := range p.compactions.Recent {
		if c := p.compactions.Recent[i]; c.Status == slatedb.StatusCompacted {
			return p.commit(ctx, c)
		}
	}
	_, err := p.updateCompactions(ctx, func(cs *slatedb.Compactions) bool {
		changed := p.reclaim(cs)
		return p.schedule(cs) || changed
	})
	return err
}

// reclaim takes jobs from workers that have not been heard of.
func (p *Process) reclaim(cs *slatedb.Compactions) (changed bool) {
	for i := range cs.Recent {
		c := &cs.Recent[i]
		if c.Status != slatedb.StatusRunning || time.Since(c.Worker.LastHeartbeat) < p.options.HeartbeatTimeout {
			continue
		}
		c.Status, c.Worker, changed = slatedb.StatusScheduled, slatedb.Worker{}, true
		if p.random.IntN(4) == 0 {
			c.Status = slatedb.StatusFailed // its outputs are garbage now
		}
	}
	return changed
}

// schedule adds a job for a tree that has none. The job takes all of L0 and
// sometimes a sorted run.
func (p *Process) schedule(cs *slatedb.Compactions) bool {
	for segment, tree := range p.manifest.Trees() {
		if len(tree.L0) < 2 || p.hasJob(cs, segment) {
			continue
		}
		c := slatedb.Compaction{
			ID: p.newID(), Status: slatedb.StatusScheduled,
			Spec: slatedb.CompactionSpec{Kind: slatedb.SpecTiered, Segment: segment, Destination: uint32(p.manifest.ID)},
		}
		for _, view := range tree.L0 {
			c.Spec.L0ViewIDs = append(c.Spec.L0ViewIDs, view.ID)
		}
		if len(tree.SortedRuns) > 0 && p.random.IntN(2) == 0 {
			c.Spec.SortedRuns = []uint32{tree.SortedRuns[0].ID}
			c.Spec.Destination = tree.SortedRuns[0].ID
		}
		for range 1 + p.random.IntN(3) {
			unbounded := slatedb.Bound{Kind: slatedb.Unbounded}
			c.Subcompactions = append(c.Subcompactions, slatedb.Subcompaction{Range: slatedb.KeyRange{Start: unbounded, End: unbounded}})
		}
		cs.Recent = append(cs.Recent, c)
		return true
	}
	return false
}

func (p *Process) hasJob(cs *slatedb.Compactions, segment []byte) bool {
	return slices.ContainsFunc(cs.Recent, func(c slatedb.Compaction) bool {
		return c.Active() && string(c.Spec.Segment) == string(segment)
	})
}

// commit puts the outputs of a finished job in the place of its inputs. As
// SlateDB does, it first leaves a checkpoint for those who still read the
// inputs.
func (p *Process) commit(ctx context.Context, c slatedb.Compaction) error {
	if err := p.Checkpoint(ctx, p.options.CheckpointLifetime); err != nil {
		return err
	}
	segment := string(c.Spec.Segment)
	err := p.update(ctx, func(m *slatedb.Manifest) {
		tree := treeOf(m, segment)
		tree.L0 = slices.DeleteFunc(tree.L0, func(v slatedb.SSTView) bool { return slices.Contains(c.Spec.L0ViewIDs, v.ID) })
		tree.SortedRuns = slices.DeleteFunc(tree.SortedRuns, func(r slatedb.SortedRun) bool { return slices.Contains(c.Spec.SortedRuns, r.ID) })
		run := slatedb.SortedRun{ID: c.Spec.Destination}
		for i := range c.Outputs {
			run.SSTs = append(run.SSTs, p.view(&c.Outputs[i]))
		}
		tree.SortedRuns = slices.Insert(tree.SortedRuns, 0, run)
	})
	if err != nil {
		return err
	}
	_, err = p.updateCompactions(ctx, func(cs *slatedb.Compactions) bool {
		cs.Recent = slices.DeleteFunc(cs.Recent, func(old slatedb.Compaction) bool { return !old.Active() })
		if job := jobByID(cs, c.ID); job != nil {
			job.Status = slatedb.StatusCompleted
			return true
		}
		return false
	})
	return err
}

// Work is one turn of a compaction worker: it claims a scheduled job, reads what
// it resumes from and the inputs, and writes outputs, of which it reports each.
// It dies in the middle with the probability 1/dies.
func (p *Process) Work(ctx context.Context, dies int) error {
	if err := p.PollCompactions(ctx); err != nil {
		return err
	}
	id, err := p.claim(ctx)
	if err != nil || id == (ulid.ULID{}) {
		return err
	}
	if err := p.Poll(ctx); err != nil {
		return err
	}
	job := *jobByID(p.compactions, id)
	segment := string(job.Spec.Segment)
	if err := p.readForJob(ctx, &job); err != nil {
		return err
	}
	for i := range job.Subcompactions {
		for range 1 + p.random.IntN(3) {
			if p.random.IntN(dies) == 0 {
				return nil
			}
			sst, err := p.WriteSST(ctx, slatedb.CompactorStore, segment)
			if err != nil {
				return err
			}
			if mine, err := p.report(ctx, id, func(c *slatedb.Compaction) {
				c.Subcompactions[i].Outputs = append(slices.Clip(c.Subcompactions[i].Outputs), *sst)
			}); err != nil || !mine {
				return err
			}
		}
	}
	_, err = p.report(ctx, id, func(c *slatedb.Compaction) {
		c.Status, c.Outputs = slatedb.StatusCompacted, nil
		for i := range c.Subcompactions {
			c.Outputs = append(c.Outputs, c.Subcompactions[i].Outputs...)
		}
	})
	return err
}

// claim takes a scheduled job; the zero ULID means that there is none.
func (p *Process) claim(ctx context.Context) (ulid.ULID, error) {
	var id ulid.ULID
	_, err := p.updateCompactions(ctx, func(cs *slatedb.Compactions) bool {
		id = ulid.ULID{}
		for i := range cs.Recent {
			if c := &cs.Recent[i]; c.Status == slatedb.StatusScheduled {
				id, c.Status, c.Worker = c.ID, slatedb.StatusRunning, slatedb.Worker{ID: p.name, LastHeartbeat: time.Now()}
				return true
			}
		}
		return false
	})
	return id, err
}

// report changes a job that the process has claimed. It returns false when the
// job was taken from it.
func (p *Process) report(ctx context.Context, id ulid.ULID, change func(c *slatedb.Compaction)) (bool, error) {
	return p.updateCompactions(ctx, func(cs *slatedb.Compactions) bool {
		c := jobByID(cs, id)
		if c == nil || c.Status != slatedb.StatusRunning || c.Worker.ID != p.name {
			return false
		}
		c.Worker.LastHeartbeat = time.Now()
		change(c)
		return true
	})
}

// readForJob reads the last output of each range, where an earlier worker has
// left off, and then the inputs.
func (p *Process) readForJob(ctx context.Context, job *slatedb.Compaction) error {
	segment := string(job.Spec.Segment)
	for outputs := range job.Ranges() {
		if err := p.readSST(ctx, slatedb.CompactorStore, segment, outputs[len(outputs)-1].ID); err != nil {
			return err
		}
	}
	tree := treeOf(cloneManifest(p.manifest), segment)
	for view := range tree.SSTViews() {
		if err := p.readSST(ctx, slatedb.CompactorStore, segment, view.SST.ID); err != nil {
			return err
		}
	}
	return nil
}

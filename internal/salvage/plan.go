package salvage

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/digest"
)

// LostFile is a file whose name is known and whose content is not all there.
type LostFile struct {
	Entity int64
	Path   string
	Digest digest.Digest // zero when it is not known either
}

// Plan is the database to make from what was found.
type Plan struct {
	Payloads     []*Payload
	Transactions []*catalog.Transaction
	Gaps         catalog.Gaps // revisions that were forgotten

	// Files and Directories are those of the tree as it ends.
	Files, Directories int64
	// LostFiles are left out of it.
	LostFiles []LostFile
	// Incomplete are payloads that are not whole, whether files name them or not.
	Incomplete []digest.Digest
	// Unsure are nodes whose latest state is not known; they are in the lost and
	// found directory, as they last are known to have been.
	Unsure []int64
	// Orphans are payloads without a name that are there as well.
	Orphans []digest.Digest
	// LostTransactions says that there were more transactions than are known.
	LostTransactions bool
}

// orphansTogether is how many orphans are put in the lost and found directory by
// one transaction.
const orphansTogether = 4096

// NewPlan works out what can be kept.
func NewPlan(ctx context.Context, f *Found, reader Reader) (*Plan, error) {
	p := newPayloads(f, reader)
	e := newEvents(f, p.byID)
	known := e.transactions()
	p.hints(known)
	plan := &Plan{LostTransactions: !f.LogWhole}
	var failed error
	whole := func(d digest.Digest) bool {
		found, err := p.find(ctx, d)
		if err != nil && failed == nil {
			failed = err
		}
		return found != nil
	}
	t := &tree{
		nodes: make(map[int64]*node), children: make(map[place]int64),
		whole: whole, exact: f.LogWhole, attic: e.last + 1,
	}
	for _, tr := range known {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		plan.Transactions = append(plan.Transactions, t.apply(tr))
	}
	for _, row := range f.Payloads {
		whole(row.Digest)
	}
	if failed != nil {
		return nil, failed
	}
	ids := make([]int64, len(plan.Transactions))
	for i, tr := range plan.Transactions {
		ids[i] = tr.ID
	}
	plan.Gaps = f.Gaps.Fit(ids)
	plan.tidy(t, e, p)
	plan.count(t, p)
	return plan, nil
}

// hints learns from the transactions which payload a row id was of.
func (p *payloads) hints(known []*catalog.Transaction) {
	type state struct{ entity, revision int64 }
	rows := make(map[state]int64)
	note := func(n *catalog.Node) {
		if _, ok := p.byID[n.Payload]; n.File && !ok {
			rows[state{n.Entity, n.Revision}] = n.Payload
		}
	}
	for _, nodes := range p.Nodes {
		for i := range nodes {
			note(&nodes[i])
		}
	}
	for _, versions := range p.Versions {
		for i := range versions {
			note(&versions[i].Node)
		}
	}
	for _, t := range known {
		for i := range t.Facts {
			f := &t.Facts[i]
			if f.Attribute != catalog.AttributeDigest || f.Value.Kind != catalog.DigestValue {
				continue
			}
			if id, ok := rows[state{f.Entity, t.ID}]; ok && !slices.Contains(p.ids[f.Value.Digest], id) {
				p.ids[f.Value.Digest] = append(p.ids[f.Value.Digest], id)
			}
		}
	}
}

// tidy moves uncertain nodes to the lost and found directory, and puts nameless
// payloads there.
func (plan *Plan) tidy(t *tree, e *events, p *payloads) {
	t.extra = nil
	for entity, n := range t.nodes {
		if entity != t.attic && n.live && (e.unclear[entity] > n.revision || !e.surely(entity, n.revision)) {
			plan.Unsure = append(plan.Unsure, entity)
		}
	}
	slices.Sort(plan.Unsure)
	for _, entity := range plan.Unsure {
		t.toLostAndFound(entity)
	}
	if !e.found.LogWhole || len(e.found.Lost) > 0 || len(p.broken) > 0 {
		plan.Orphans = p.orphans()
	}
	next := t.attic + 1
	add := func() {
		if len(t.extra) > 0 {
			plan.Transactions = append(plan.Transactions, &catalog.Transaction{ID: next, Time: plan.lastTime(), Facts: t.extra})
			next++
			t.extra = nil
		}
	}
	if len(plan.Orphans) > 0 {
		t.lostAndFound()
	}
	add()
	for batch := range slices.Chunk(plan.Orphans, orphansTogether) {
		for _, d := range batch {
			t.extra = append(t.extra, catalog.Int64(next, catalog.AttributeParent, t.attic),
				catalog.String(next, catalog.AttributeName, d.String()),
				catalog.Digest(next, catalog.AttributeDigest, d))
			next++
			p.whole[d] = p.single(d)
		}
		add()
	}
	// The lost and found directory has an id of its own, which no later
	// transaction may take.
	if last := plan.lastID(); t.made && last < t.attic {
		plan.Transactions = append(plan.Transactions, &catalog.Transaction{ID: next, Time: plan.lastTime()})
	}
}

func (plan *Plan) lastTime() time.Time {
	if len(plan.Transactions) == 0 {
		return time.Unix(0, 0).UTC()
	}
	return plan.Transactions[len(plan.Transactions)-1].Time
}

func (plan *Plan) lastID() int64 {
	if len(plan.Transactions) == 0 {
		return 0
	}
	return plan.Transactions[len(plan.Transactions)-1].ID
}

// count says what is there in the end, and what is not.
func (plan *Plan) count(t *tree, p *payloads) {
	for entity, n := range t.nodes {
		switch {
		case n.file && n.live:
			plan.Files++
		case n.file:
			plan.LostFiles = append(plan.LostFiles, LostFile{entity, t.path(entity), n.digest})
		case n.live && entity != t.attic:
			plan.Directories++
		}
	}
	plan.Files += int64(len(plan.Orphans))
	slices.SortFunc(plan.LostFiles, func(a, b LostFile) int { return cmp.Compare(a.Entity, b.Entity) })
	for d := range p.broken {
		if d != (digest.Digest{}) {
			plan.Incomplete = append(plan.Incomplete, d)
		}
	}
	slices.SortFunc(plan.Incomplete, compareDigests)
	for _, found := range p.whole {
		plan.Payloads = append(plan.Payloads, found)
	}
	slices.SortFunc(plan.Payloads, func(a, b *Payload) int { return p.offset(a, b) })
}

// offset orders payloads as they lie in the damaged file.
func (p *payloads) offset(a, b *Payload) int {
	at := func(x *Payload) int64 {
		if len(x.Chunks) == 0 {
			return -1
		}
		return p.Stored[x.Chunks[0]].Offset
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), compareDigests(a.Digest, b.Digest))
}

func compareDigests(a, b digest.Digest) int { return bytes.Compare(a[:], b[:]) }

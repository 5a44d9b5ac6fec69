package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
)

// Growth says how a database grew.
type Growth struct {
	Points   []GrowthPoint `json:"points" nullable:"false" doc:"In the order of revisions, at most some hundred."`
	Complete bool          `json:"complete" doc:"The last point is the present. Ask again for what follows."`
}

// GrowthPoint is the database after a commit.
type GrowthPoint struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time" doc:"By the clock of who committed it."`
	Files    int64     `json:"files" doc:"How many files there were."`
	Bytes    int64     `json:"bytes" doc:"Their sizes, added up."`
	Written  int64     `json:"written" doc:"The sizes of all versions of all files up to then, added up."`
}

// maxPoints bounds how many points are kept; beyond, every second is forgotten.
const maxPoints = 400

// attributeDigest is the attribute whose facts say that a file has another content.
const attributeDigest = "stardust/object/digest"

// growth is what was found out of the history so far. It goes on where it was, since
// the history of before does not change.
type growth struct {
	mu     sync.Mutex
	now    GrowthPoint
	points []GrowthPoint
	every  int // a point is kept of so many commits
	since  int // commits since the last
}

func (h *Handler) addGrowth() {
	h.describe(huma.Operation{
		OperationID: "growth", Method: http.MethodGet, Path: "/v1/growth", Tags: []string{"database"},
		Summary:     "Say how the database grew over its revisions.",
		Description: "The history is read once, for ten seconds at most a request, and remembered.",
		Responses:   h.responses(h.schema(Growth{}), "200"),
	}, fresh(h.grow))
}

// grow reads the commits that were not read yet.
func (h *Handler) grow(r *http.Request) (*Growth, error) {
	ctx := r.Context()
	if err := whole(ctx); err != nil {
		return nil, err
	}
	g := &h.growth
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.every == 0 {
		g.every = 1
	}
	until := time.Now().Add(maxSearch) //nolint:forbidigo // bounds the work, decides nothing
	complete := true
	for t, err := range h.db.Transactions(g.now.Revision + 1) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if err := h.count(ctx, &t); err != nil {
			return nil, err
		}
		if g.since++; g.since == g.every {
			g.since = 0
			g.keep()
		}
		if time.Now().After(until) { //nolint:forbidigo // as above
			complete = false
			break
		}
	}
	out := &Growth{Points: append([]GrowthPoint{}, g.points...), Complete: complete}
	if n := len(out.Points); g.now.Revision > 0 && (n == 0 || out.Points[n-1].Revision != g.now.Revision) {
		out.Points = append(out.Points, g.now)
	}
	return out, nil
}

func (g *growth) keep() {
	g.points = append(g.points, g.now)
	if len(g.points) < maxPoints {
		return
	}
	for i := range maxPoints / 2 {
		g.points[i] = g.points[2*i+1]
	}
	g.points, g.every = g.points[:maxPoints/2], g.every*2
}

// count adds what a commit did.
func (h *Handler) count(ctx context.Context, t *stardust.Transaction) error {
	before, after, err := h.around(ctx, t)
	if err != nil {
		return err
	}
	g := h.growth.now
	seen := make(map[int64]bool)
	for i := range t.Facts {
		fact := &t.Facts[i]
		if fact.Attribute != attributeDigest || seen[fact.Entity] {
			continue
		}
		seen[fact.Entity] = true
		was, err := file(before, fact.Entity)
		if err != nil {
			return err
		}
		is, err := file(after, fact.Entity)
		if err != nil {
			return err
		}
		if was != nil {
			g.Files--
			g.Bytes -= was.Size
		}
		if is != nil {
			g.Files++
			g.Bytes += is.Size
			g.Written += is.Size
		}
	}
	g.Revision, g.Time = t.ID, t.Time.UTC()
	h.growth.now = g
	return nil
}

// file returns a file, nil when there is none.
func file(tree stardust.Tree, entity int64) (*stardust.Record, error) {
	record, err := tree.Get(entity)
	if isNotFound(err) || err == nil && record.Kind != stardust.KindFile {
		return nil, nil
	}
	return &record, err
}

package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// maxTransactions bounds one page of transactions.
const maxTransactions = 1000

// Fact is one thing that a commit wrote.
type Fact struct {
	Entity    int64  `json:"entity"`
	Attribute string `json:"attribute" example:"stardust/object/digest"`
	Value     any    `json:"value,omitempty" doc:"A number, text, a digest or a document."`
	Retracted bool   `json:"retracted,omitempty" doc:"The entity no longer has the attribute."`
}

// Transaction is what one commit wrote.
type Transaction struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time" doc:"By the clock of who committed it; nothing is ordered by it."`
	Facts    []Fact    `json:"facts"`
}

// Version is a node as it was from its revision on.
type Version struct {
	TimedRecord
	Until   int64 `json:"until,omitempty" doc:"The revision that ended it; none when it is still so."`
	Removed bool  `json:"removed,omitempty" doc:"until removed the node rather than changed it."`
}

type transactionsInput struct {
	From  int64 `query:"from" minimum:"0" doc:"The first revision."`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

type transactionsOutput struct{ Body []Transaction }

func (h *Handler) addHistory() {
	huma.Register(h.api, huma.Operation{
		OperationID: "transactions-list", Method: http.MethodGet, Path: "/v1/transactions", Tags: []string{"history"},
		Summary:   "List what commits wrote, fact by fact, the oldest first.",
		Responses: map[string]*huma.Response{"default": h.problem()},
	}, func(ctx context.Context, in *transactionsInput) (*transactionsOutput, error) {
		page, err := h.transactions(ctx, in.From, min(in.Limit, maxTransactions))
		if err != nil {
			return nil, problemOf(err)
		}
		return &transactionsOutput{page}, nil
	})
	h.describe(huma.Operation{
		OperationID: "versions-list", Method: http.MethodGet, Path: "/v1/history/{path}", Tags: []string{"history"},
		Summary:     "List the versions of a file or directory, the oldest first.",
		Description: "The node is the one at the path, now or at a revision; versions under other names and before moves are among them.",
		Parameters:  []*huma.Param{pathParam(), atParam()},
		Responses:   h.responses(h.schema([]Version{}), "200"),
	}, fresh(h.versions))
	h.describe(huma.Operation{
		OperationID: "commits-list", Method: http.MethodGet, Path: "/v1/commits/{path}", Tags: []string{"history"},
		Summary:     "List what commits did beneath a path, the newest first.",
		Description: "Commits that did nothing there are left out; a page may then be empty and still have a Link header of rel=next.",
		Parameters: []*huma.Param{
			pathParam(),
			queryParam("before", integerSchema(0), "Only commits before this revision; 0 begins with the latest."),
			queryParam("limit", integerSchema(1), "How many commits to look at; 100 without it."),
		},
		Responses: h.responses(h.schema([]Commit{}), "200"),
	}, h.commits)
}

func (h *Handler) transactions(ctx context.Context, from int64, limit int) ([]Transaction, error) {
	if err := whole(ctx); err != nil {
		return nil, err
	}
	page := []Transaction{}
	for t, err := range h.db.Transactions(from) {
		if err != nil {
			return nil, err
		}
		page = append(page, newTransaction(&t))
		if len(page) == limit {
			break
		}
	}
	return page, nil
}

func newTransaction(t *stardust.Transaction) Transaction {
	out := Transaction{Revision: t.ID, Time: t.Time.UTC(), Facts: make([]Fact, len(t.Facts))}
	for i := range t.Facts {
		f := &t.Facts[i]
		out.Facts[i] = Fact{Entity: f.Entity, Attribute: f.Attribute, Value: f.Value, Retracted: f.Retracted}
	}
	return out
}

// timedVersion is a Version with what the database has.
type timedVersion struct {
	timedRecord
	Until   int64 `json:"until,omitempty"`
	Removed bool  `json:"removed,omitempty"`
}

func (h *Handler) versions(r *http.Request) ([]timedVersion, error) {
	_, record, err := h.resolve(r)
	if err != nil {
		return nil, err
	}
	if record.Entity == 0 {
		return nil, badRequest("path: the root has no versions; see /v1/commits/")
	}
	old, err := h.now(r.Context()).History(record.Entity)
	if err != nil {
		return nil, err
	}
	g := grant.From(r.Context())
	versions := []timedVersion{}
	for i := range old {
		if g.At != 0 && old[i].Revision > g.At {
			continue
		}
		inside, err := h.inside(r.Context(), &old[i], g)
		if err != nil {
			return nil, err
		}
		if !inside {
			continue
		}
		when, err := h.times.Of(h.db, old[i].Revision)
		if err != nil {
			return nil, err
		}
		versions = append(versions, timedVersion{newTimedRecord(old[i].Record, when), old[i].Until, old[i].Removed})
	}
	return versions, nil
}

// inside reports whether a version of a node lay where the grant may look.
func (h *Handler) inside(ctx context.Context, v *stardust.Version, g *grant.Grant) (bool, error) {
	root := g.Path("")
	if root == "" {
		return true, nil
	}
	view, err := h.db.KeptFrom(v.Revision)
	if err != nil {
		return false, err
	}
	_, path, err := newPaths(view.Tree().WithContext(ctx)).find(v.Entity)
	_, ok := beneath(path, root)
	return ok, err
}

func (h *Handler) commits(w http.ResponseWriter, r *http.Request) {
	page, next, err := h.commitsPage(r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if next > 0 {
		query := r.URL.Query()
		query.Set("before", strconv.FormatInt(next, 10))
		w.Header().Set("Link", "<?"+query.Encode()+`>; rel="next"`)
	}
	writeValue(w, r, http.StatusOK, page)
}

func (h *Handler) commitsPage(r *http.Request) (page []Commit, next int64, err error) {
	limit, err := limitOf(r.URL.Query(), 100)
	if err != nil {
		return nil, 0, err
	}
	before, err := revisionOf(r, "before")
	if err != nil {
		return nil, 0, err
	}
	latest, err := h.db.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	if before == 0 || before > latest.Revision() {
		before = latest.Revision() + 1
	}
	if g := grant.From(r.Context()); g.At != 0 {
		before = min(before, g.At+1)
	}
	last, err := h.transactionsBefore(r.Context(), before, limit)
	if err != nil {
		return nil, 0, err
	}
	page = []Commit{}
	root := trim(pathOf(r))
	for i := len(last) - 1; i >= 0; i-- {
		c, there, err := h.tellChanges(r.Context(), &last[i], root)
		if err != nil {
			return nil, 0, err
		}
		if there {
			page = append(page, c)
		}
	}
	if len(last) == limit {
		next = last[0].ID
	}
	return page, next, nil
}

// transactionsBefore returns the last transactions before a revision, the oldest
// first.
func (h *Handler) transactionsBefore(ctx context.Context, before int64, limit int) ([]stardust.Transaction, error) {
	// A commit has at least one revision, and often takes more: it looks further
	// and further back until there are enough.
	for span := int64(4 * limit); ; span *= 8 {
		from := max(0, before-span)
		var last []stardust.Transaction
		for t, err := range h.db.Transactions(from) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			if t.ID >= before {
				break
			}
			if len(last) == limit {
				last = append(last[:0], last[1:]...)
			}
			last = append(last, t)
		}
		if len(last) == limit || from == 0 {
			return last, nil
		}
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// How often the stream of changes looks for new ones, and how often it sends a
// sign of life.
const (
	changePoll = 250 * time.Millisecond
	keepAlive  = 15 * time.Second
)

func (h *Handler) addChanges() {
	responses := map[string]*huma.Response{
		"200":     {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: "string"}}}},
		"default": h.problem(),
	}
	h.describe(huma.Operation{
		OperationID: "changes-follow", Method: http.MethodGet, Path: "/v1/changes/{path}", Tags: []string{"history"},
		Summary: "Follow what commits do beneath a path, as server-sent events.",
		Description: "Each event is named commit, its id is the revision and its data a Commit. A client that reconnects with Last-Event-ID misses none. " +
			"An event named ready, whose id is the latest revision, comes first.",
		Parameters: []*huma.Param{
			pathParam(), headerParam("Last-Event-ID"),
			queryParam("from", integerSchema(0), "The first revision; without it and Last-Event-ID, what is committed from now on."),
		},
		Responses: responses,
	}, h.changes)
}

// revisionOf reads a revision from the query, zero if there is none.
func revisionOf(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil || revision < 0 {
		return 0, badRequest(name + ": " + strconv.Quote(text) + " is not a revision")
	}
	return revision, nil
}

// changes sends commits as they are made, until the client goes.
func (h *Handler) changes(w http.ResponseWriter, r *http.Request) {
	next, err := h.firstChange(r)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy's buffer would delay events
	w.WriteHeader(http.StatusOK)
	_, err = fmt.Fprintf(w, "id: %d\nevent: ready\ndata: {\"revision\":%d}\n\n", next-1, next-1)
	h.follow(w, r, next, err)
}

func (h *Handler) follow(w http.ResponseWriter, r *http.Request, next int64, err error) {
	flush := http.NewResponseController(w)
	poll := time.NewTicker(changePoll)
	defer poll.Stop()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for err == nil && flush.Flush() == nil {
		select {
		case <-r.Context().Done():
			return
		case <-h.options.Closing:
			return
		case <-alive.C:
			_, err = fmt.Fprint(w, ": still here\n\n")
		case <-poll.C:
			var broken error
			if next, broken, err = h.sendChanges(w, r, next); broken != nil {
				h.brokenOff(w, r, false, broken)
			}
		}
	}
}

// firstChange returns the revision with which the client begins.
func (h *Handler) firstChange(r *http.Request) (int64, error) {
	if grant.From(r.Context()).At != 0 {
		return 0, newProblem(stardust.StatusUnavailable, codeBounded, "this link shows one revision, which does not change", http.StatusForbidden)
	}
	from, err := revisionOf(r, "from")
	if err != nil {
		return 0, err
	}
	if last, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil && last >= 0 {
		return last + 1, nil
	}
	if from > 0 {
		return from, nil
	}
	now, err := h.db.Snapshot()
	if err != nil {
		return 0, err
	}
	return now.Revision() + 1, nil
}

// sendChanges sends what was committed from a revision on, and returns the
// revision to go on with. gone is the error of a client that has gone.
func (h *Handler) sendChanges(w http.ResponseWriter, r *http.Request, from int64) (next int64, err, gone error) {
	root := trim(pathOf(r))
	for t, err := range h.db.Transactions(from) {
		if err != nil {
			return from, err, nil
		}
		commit, there, err := h.tellChanges(r.Context(), &t, root)
		if err != nil {
			return from, err, nil
		}
		from = t.ID + 1
		if !there {
			continue
		}
		text, err := json.Marshal(commit)
		if err != nil {
			return from, err, nil
		}
		if _, err := fmt.Fprintf(w, "id: %d\nevent: commit\ndata: %s\n\n", t.ID, text); err != nil {
			return from, nil, err
		}
	}
	return from, nil, nil
}

package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/stardustdb/stardust"
)

// list streams the records of a directory, in bounded memory.
func (h *Handler) list(w http.ResponseWriter, r *http.Request, tree stardust.Tree, directory stardust.Record) {
	query := r.URL.Query()
	limit, err := limitOf(query, 0)
	if err != nil {
		writeProblem(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if limit > 0 {
		h.listPage(w, r, tree, directory, limit)
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	l := &listWriter{w: w}
	for child, err := range tree.ChildrenAfter(directory.Entity, query.Get("after")) {
		if err == nil {
			var item any
			if item, err = h.item(child, flag(r, "times")); err == nil {
				err = l.add(item)
			}
		}
		if l.broken {
			return // the client has gone
		}
		if err != nil {
			h.brokenOff(w, r, l.n == 0, err)
			return
		}
	}
	l.end()
}

// listPage answers with some records, and the address of those that follow.
func (h *Handler) listPage(w http.ResponseWriter, r *http.Request, tree stardust.Tree, directory stardust.Record, limit int) {
	items, last, more := []any{}, "", false
	for child, err := range tree.ChildrenAfter(directory.Entity, r.URL.Query().Get("after")) {
		if more = len(items) == limit; more && err == nil {
			break
		}
		var item any
		if err == nil {
			item, err = h.item(child, flag(r, "times"))
		}
		if err != nil {
			writeProblem(w, r, err)
			return
		}
		items, last = append(items, item), child.Name
	}
	if more {
		query := r.URL.Query()
		query.Set("after", last)
		w.Header().Set("Link", "<?"+query.Encode()+`>; rel="next"`)
	}
	writeValue(w, r, http.StatusOK, items)
}

// maxLimit bounds every page's length.
const maxLimit = 10_000

func limitOf(query url.Values, fallback int) (int, error) {
	text := query.Get("limit")
	if text == "" {
		return fallback, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, badRequest("limit: " + strconv.Quote(text) + " is not a number from 1 to " + strconv.Itoa(maxLimit))
	}
	return limit, nil
}

// timedRecord is a record with the time of its revision.
type timedRecord struct {
	Entity   int64               `json:"entity"`
	Parent   int64               `json:"parent"`
	Revision int64               `json:"revision"`
	Name     string              `json:"name"`
	Kind     stardust.RecordKind `json:"kind"`
	Size     *int64              `json:"size,omitempty"`
	Digest   *stardust.Digest    `json:"digest,omitempty"`
	Time     *time.Time          `json:"time,omitempty"`
}

func newTimedRecord(record stardust.Record, at time.Time) timedRecord {
	t := timedRecord{Entity: record.Entity, Parent: record.Parent, Revision: record.Revision, Name: record.Name, Kind: record.Kind}
	if record.Kind == stardust.KindFile {
		t.Size, t.Digest = &record.Size, &record.Digest
	}
	if !at.IsZero() {
		t.Time = &at
	}
	return t
}

func (h *Handler) item(record stardust.Record, times bool) (any, error) {
	if !times {
		return record, nil
	}
	at, err := h.times.Of(h.db, record.Revision)
	return newTimedRecord(record, at), err
}

// listWriter writes an array item by item.
type listWriter struct {
	w      http.ResponseWriter
	n      int
	broken bool
}

func (l *listWriter) add(item any) error {
	text, err := json.Marshal(item)
	if err != nil {
		return err
	}
	separator := byte(',')
	if l.n == 0 {
		separator = '['
	}
	_, err = l.w.Write(append([]byte{separator}, text...))
	l.broken = err != nil
	l.n++
	return err
}

func (l *listWriter) end() {
	end := "]"
	if l.n == 0 {
		end = "[]"
	}
	_, _ = l.w.Write([]byte(end)) // the client has gone, then
}

// brokenOff reports an error in the middle of an answer: as an error if nothing
// was sent, and otherwise by breaking the connection.
func (h *Handler) brokenOff(w http.ResponseWriter, r *http.Request, nothingSent bool, err error) {
	if nothingSent {
		writeProblem(w, r, err)
		return
	}
	if r.Context().Err() == nil {
		h.options.Logger.Error("an answer was broken off", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

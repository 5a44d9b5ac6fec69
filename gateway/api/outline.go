package api

import (
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stardustdb/stardust"
)

// Outline says how much is in a directory and where its pages begin, so that a
// client can show any part of a large one.
type Outline struct {
	Revision int64    `json:"revision" doc:"The latest of the database, to which this belongs."`
	Count    int      `json:"count" doc:"How many children there are."`
	Bytes    int64    `json:"bytes" doc:"The sizes of the files among them, added up."`
	Step     int      `json:"step" doc:"How many children a page has."`
	After    []string `json:"after" nullable:"false" doc:"The name after which each page but the first begins, for file-read's after."`
}

// outlineStep is how many children a page of an outline has.
const outlineStep = 1000

// maxOutlines bounds how many outlines are remembered.
const maxOutlines = 8

// outlines remembers those of directories that were asked for last, since clients ask
// again when they scroll, and a million children take a second.
type outlines struct {
	mu   sync.Mutex
	keys []outlineKey // the oldest first
	byID map[outlineKey]*Outline
}

type outlineKey struct{ entity, revision int64 }

func (o *outlines) find(key outlineKey) *Outline {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[key]
}

func (o *outlines) add(key outlineKey, outline *Outline) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = make(map[outlineKey]*Outline)
	}
	if o.byID[key] != nil {
		return
	}
	if len(o.keys) == maxOutlines {
		delete(o.byID, o.keys[0])
		o.keys = o.keys[1:]
	}
	o.keys, o.byID[key] = append(o.keys, key), outline
}

func (h *Handler) addOutlines() {
	h.describe(huma.Operation{
		OperationID: "outline", Method: http.MethodGet, Path: "/v1/outline/{path}", Tags: []string{"files"},
		Summary:     "Say how many children a directory has and where pages of a thousand begin.",
		Description: "With it, a client shows any part of a large directory: the page that begins after a name of this document is file-read with after and limit=1000.",
		Parameters:  []*huma.Param{pathParam(), atParam()},
		Responses:   h.responses(h.schema(Outline{}), "200"),
	}, fresh(h.outline))
}

func (h *Handler) outline(r *http.Request) (*Outline, error) {
	at, err := revisionOf(r, "at")
	if err != nil {
		return nil, err
	}
	if at, err = revisionFor(r.Context(), at); err != nil {
		return nil, err
	}
	var snapshot *stardust.Snapshot
	if at == 0 {
		snapshot, err = h.db.Snapshot()
	} else {
		snapshot, err = h.db.AsOf(at)
	}
	if err != nil {
		return nil, err
	}
	tree := snapshot.Tree().WithContext(r.Context())
	directory, err := tree.Resolve(pathOf(r))
	if err != nil {
		return nil, err
	}
	if directory.Kind != stardust.KindDirectory {
		return nil, badRequest("path: it is a file")
	}
	key := outlineKey{directory.Entity, snapshot.Revision()}
	if known := h.outlines.find(key); known != nil {
		return known, nil
	}
	outline := &Outline{Revision: key.revision, Step: outlineStep, After: []string{}}
	last := ""
	for child, err := range tree.Children(directory.Entity) {
		if err != nil {
			return nil, err
		}
		if outline.Count > 0 && outline.Count%outlineStep == 0 {
			outline.After = append(outline.After, last)
		}
		outline.Count++
		outline.Bytes += child.Size
		last = child.Name
	}
	h.outlines.add(key, outline)
	return outline, nil
}

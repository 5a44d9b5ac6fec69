package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/grant"
)

// Codes of problems that only this interface has.
const (
	codeBounded     = "bounded"      // the request may see a part of the database only
	codeForbidden   = "forbidden"    // the request may read only
	codeStaleDigest = "stale_digest" // the file has another digest than a condition names
	codeBody        = "body"         // the body did not arrive whole
	codeTooLarge    = "too_large"    // the body is larger than is taken
)

// mayWrite refuses a change to a request that may only read.
func mayWrite(ctx context.Context) error {
	if !grant.From(ctx).Write {
		return newProblem(stardust.StatusUnavailable, codeForbidden, "this user, token or link may read only", http.StatusForbidden)
	}
	return nil
}

// whole refuses calls by entity or digest from a request that is bounded to a
// part of the tree: only paths can be checked.
func whole(ctx context.Context) error {
	if grant.From(ctx).Bounded() {
		return newProblem(stardust.StatusUnavailable, codeBounded,
			"this user, token or link sees a part of the database: use paths, which begin there, rather than entities, digests and transactions", http.StatusForbidden)
	}
	return nil
}

// revisionFor returns the revision that a request sees when it asks for one, zero being
// the present.
func revisionFor(ctx context.Context, asked int64) (int64, error) {
	revision, ok := grant.From(ctx).Revision(asked)
	if !ok {
		return 0, newProblem(stardust.StatusUnavailable, codeBounded,
			"this link shows revision "+strconv.FormatInt(revision, 10)+" only", http.StatusForbidden)
	}
	return revision, nil
}

// view returns the operations at the revision that a request asks for, zero
// being the present.
func (h *Handler) view(ctx context.Context, asked int64) (stardust.Objects, error) {
	revision, err := revisionFor(ctx, asked)
	if err != nil {
		return stardust.Objects{}, err
	}
	if revision == 0 {
		return h.db.Objects().WithContext(ctx), nil
	}
	snapshot, err := h.db.AsOf(revision)
	if err != nil {
		return stardust.Objects{}, err
	}
	return snapshot.Objects().WithContext(ctx), nil
}

// now returns the present of the tree, for writes.
func (h *Handler) now(ctx context.Context) stardust.Tree { return h.db.Tree().WithContext(ctx) }

// at returns the tree at the revision that a request asks for.
func (h *Handler) at(r *http.Request) (stardust.Tree, error) {
	revision, err := revisionOf(r, "at")
	if err != nil {
		return stardust.Tree{}, err
	}
	objects, err := h.view(r.Context(), revision)
	return objects.Tree(), err
}

// pathOf returns the path in the tree that a request is about.
func pathOf(r *http.Request) string { return grant.From(r.Context()).Path(r.PathValue("path")) }

// resolve returns the record at a request's path, and the tree it is in.
func (h *Handler) resolve(r *http.Request) (stardust.Tree, stardust.Record, error) {
	tree, err := h.at(r)
	if err != nil {
		return tree, stardust.Record{}, err
	}
	record, err := tree.Resolve(pathOf(r))
	return tree, record, err
}

func trim(path string) string { return strings.Trim(path, "/") }

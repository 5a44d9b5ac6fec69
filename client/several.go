package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// RemoveAll removes files and directories with everything in them, in one commit.
func (c *Client) RemoveAll(ctx context.Context, paths ...string) error {
	return c.post(ctx, "/v1/remove", map[string]any{"paths": paths, "recursive": true}, nil)
}

// MoveInto moves files and directories into a directory in one commit, under the
// names that they have.
func (c *Client) MoveInto(ctx context.Context, into string, paths ...string) error {
	return c.post(ctx, "/v1/move-into", map[string]any{"paths": paths, "into": into}, nil)
}

// Outline says how much is in a directory and where its pages begin.
type Outline struct {
	Revision int64    `json:"revision"` // the latest of the database, to which it belongs
	Count    int      `json:"count"`
	Bytes    int64    `json:"bytes"` // of the files among the children
	Step     int      `json:"step"`  // how many children a page has
	After    []string `json:"after"` // the name after which each page but the first begins
}

// Outline returns the outline of a directory; zero is the present.
func (c *Client) Outline(ctx context.Context, path string, at int64) (outline Outline, err error) {
	query := url.Values{}
	setRevision(query, "at", at)
	err = c.call(ctx, &request{method: http.MethodGet, path: under("outline", path), query: query}, &outline)
	return outline, err
}

// Largest finds the largest files beneath a path. complete reports whether all files
// were looked at.
func (c *Client) Largest(ctx context.Context, path string, limit int) (found []Found, complete bool, err error) {
	var out struct {
		Found    []Found
		Complete bool
	}
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	err = c.call(ctx, &request{method: http.MethodGet, path: under("largest", path), query: query}, &out)
	return out.Found, out.Complete, err
}

// GrowthPoint is the database after a commit.
type GrowthPoint struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	Files    int64     `json:"files"`
	Bytes    int64     `json:"bytes"`   // of the files that there were
	Written  int64     `json:"written"` // of all versions up to then
}

// Growth tells how the database grew over its revisions. complete reports whether the
// last point is the present.
func (c *Client) Growth(ctx context.Context) (points []GrowthPoint, complete bool, err error) {
	var out struct {
		Points   []GrowthPoint
		Complete bool
	}
	err = c.call(ctx, &request{method: http.MethodGet, path: "/v1/growth"}, &out)
	return out.Points, out.Complete, err
}

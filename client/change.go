package client

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
)

// Change is what a commit did to one node.
type Change struct {
	Action string // created, changed, moved, removed or patched
	Entity int64
	Kind   stardust.RecordKind
	Path   string // after the commit, or before it when removed
	From   string // before the commit, when moved
	Size   int64
}

// Commit is what one transaction did.
type Commit struct {
	Revision int64
	Time     time.Time
	Changes  []Change
	More     int // changes that are left out
}

// Commits returns what commits did beneath a path before a revision (zero:
// now), newest first. It looks at limit commits (zero: 100).
func (c *Client) Commits(ctx context.Context, path string, before int64, limit int) (commits []Commit, err error) {
	query := url.Values{}
	setRevision(query, "before", before)
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	err = c.call(ctx, &request{method: http.MethodGet, path: under("commits", path), query: query}, &commits)
	return commits, err
}

// Fact is one thing that a commit wrote.
type Fact struct {
	Entity    int64
	Attribute string
	Value     json.RawMessage
	Retracted bool
}

// Transaction is what one commit wrote, fact by fact.
type Transaction struct {
	Revision int64
	Time     time.Time
	Facts    []Fact
}

// Transactions returns at most limit (zero: 100) transactions from a revision
// on, oldest first.
func (c *Client) Transactions(ctx context.Context, from int64, limit int) (transactions []Transaction, err error) {
	query := url.Values{}
	setRevision(query, "from", from)
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	err = c.call(ctx, &request{method: http.MethodGet, path: "/v1/transactions", query: query}, &transactions)
	return transactions, err
}

// maxEvent bounds the size of one event, in bytes.
const maxEvent = 16 << 20

// Changes yields what commits do beneath a path, from a revision on (zero: the
// next), until ctx ends. An error ends it, also when the connection breaks:
// continue from the last commit's revision plus one.
func (c *Client) Changes(ctx context.Context, path string, from int64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		query := url.Values{}
		setRevision(query, "from", from)
		resp, err := c.do(ctx, &request{method: http.MethodGet, path: under("changes", path), query: query})
		if err != nil {
			yield(Commit{}, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, maxEvent)
		event := ""
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				event = value
			case name == "data" && event == "commit":
				var commit Commit
				err := json.Unmarshal([]byte(value), &commit)
				if !yield(commit, err) || err != nil {
					return
				}
			}
		}
		if err = lines.Err(); err == nil {
			err = http.ErrServerClosed
		}
		yield(Commit{}, transportError(ctx, err))
	}
}

package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/stardustdb/stardust"
)

// Objects are the twelve operations of the objects spec.
type Objects struct {
	client *Client
	query  string
}

// Objects returns the operations at a revision, zero being the present.
func (c *Client) Objects(at int64) Objects {
	query := make(map[string][]string)
	setRevision(query, "at", at)
	o := Objects{client: c}
	if at != 0 {
		o.query = "?at=" + query["at"][0]
	}
	return o
}

// CallDUST runs an operation by name with a request in DUST, and returns the
// answer in DUST.
func (o Objects) CallDUST(ctx context.Context, operation, dust string) (string, error) {
	const kind = "application/dust"
	header := http.Header{"Content-Type": {kind}, "Accept": {kind}}
	resp, err := o.client.do(ctx, &request{method: http.MethodPost, path: "/v1/objects/" + operation + o.query, header: header, body: strings.NewReader(dust)})
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func (o Objects) call(ctx context.Context, operation string, in, out any) error {
	return o.client.post(ctx, "/v1/objects/"+operation+o.query, in, out)
}

// Get is [stardust.Tree.Get].
func (o Objects) Get(ctx context.Context, entity int64) (record stardust.Record, err error) {
	err = o.call(ctx, "get", map[string]any{"entity": entity}, &record)
	return record, err
}

// Lookup is [stardust.Tree.Lookup].
func (o Objects) Lookup(ctx context.Context, parent int64, name string) (record stardust.Record, err error) {
	err = o.call(ctx, "lookup", map[string]any{"parent": parent, "name": name}, &record)
	return record, err
}

// Children is [stardust.Tree.Children], all at once.
func (o Objects) Children(ctx context.Context, parent int64) (records []stardust.Record, err error) {
	err = o.call(ctx, "children", map[string]any{"parent": parent}, &records)
	return records, err
}

// Path is [stardust.Tree.Path].
func (o Objects) Path(ctx context.Context, entity int64) (names []string, err error) {
	err = o.call(ctx, "path", map[string]any{"entity": entity}, &names)
	return names, err
}

// Files is [stardust.Tree.Files].
func (o Objects) Files(ctx context.Context, digest stardust.Digest) (entities []int64, err error) {
	err = o.call(ctx, "files", map[string]any{"digest": digest}, &entities)
	return entities, err
}

// Manifest is [stardust.Tree.Manifest].
func (o Objects) Manifest(ctx context.Context, digest stardust.Digest) (manifest stardust.Manifest, err error) {
	err = o.call(ctx, "manifest", map[string]any{"digest": digest}, &manifest)
	return manifest, err
}

// Create is [stardust.Tree.Create]. The server's operation has no place for
// NewNode.File, which must be nil.
func (o Objects) Create(ctx context.Context, nodes ...stardust.NewNode) (records []stardust.Record, err error) {
	type node struct {
		Name   string           `json:"name"`
		Parent int64            `json:"parent,omitempty"`
		Under  int              `json:"under,omitempty"`
		Digest *stardust.Digest `json:"digest,omitempty"`
	}
	in := make([]node, len(nodes))
	for i, n := range nodes {
		if n.File != nil {
			return nil, fmt.Errorf("nodes[%d].File: the server's create takes no attributes; patch the node", i)
		}
		in[i] = node{n.Name, n.Parent, n.Under, n.Digest}
	}
	err = o.call(ctx, "create", map[string]any{"nodes": in}, &records)
	return records, err
}

// Update is [stardust.Tree.Update].
func (o Objects) Update(ctx context.Context, entity int64, digest stardust.Digest, expectedRevision int64) (record stardust.Record, err error) {
	err = o.call(ctx, "update", map[string]any{"entity": entity, "digest": digest, "expectedRevision": expectedRevision}, &record)
	return record, err
}

// Move is [stardust.Tree.Move].
func (o Objects) Move(ctx context.Context, entity, parent int64, name string, expectedRevision int64, replace bool) (record stardust.Record, err error) {
	err = o.call(ctx, "move", map[string]any{
		"entity": entity, "parent": parent, "name": name, "expectedRevision": expectedRevision, "replace": replace,
	}, &record)
	return record, err
}

// Remove is [stardust.Tree.Remove].
func (o Objects) Remove(ctx context.Context, entity, expectedRevision int64) error {
	return o.call(ctx, "remove", map[string]any{"entity": entity, "expectedRevision": expectedRevision}, nil)
}

// Upload publishes what a reader yields as a payload.
func (o Objects) Upload(ctx context.Context, from io.Reader) (published stardust.Published, err error) {
	header := http.Header{"Content-Type": {"application/octet-stream"}}
	err = o.client.call(ctx, &request{method: http.MethodPost, path: "/v1/payloads", header: header, body: from}, &published)
	return published, err
}

// Open opens a payload at an offset; a length of zero reads up to the end. The
// caller closes it.
func (o Objects) Open(ctx context.Context, digest stardust.Digest, offset, length int64) (io.ReadCloser, error) {
	return o.client.read(ctx, "/v1/payloads/"+digest.String(), nil, offset, length)
}

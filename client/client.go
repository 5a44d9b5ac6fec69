package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
)

// Options are the options of [New]. Nil means the zero value.
type Options struct {
	// User and Password are sent with every request if User is set.
	User, Password string
	// Token, if set, is sent with every request instead.
	Token string
	// HTTP does the requests; nil means http.DefaultClient. It must not bound the
	// time of a whole request if files are large; use contexts.
	HTTP *http.Client
}

// Client speaks to one server. It may be used concurrently.
type Client struct {
	base    string
	options Options
}

// New returns a client of the server at a URL, such as http://127.0.0.1:8080/.
// It sends no request yet.
func New(server string, options *Options) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, invalid("server: %q is not a URL such as http://127.0.0.1:8080/", server)
	}
	c := &Client{base: strings.TrimRight(server, "/")}
	if options != nil {
		c.options = *options
	}
	if c.options.HTTP == nil {
		c.options.HTTP = http.DefaultClient
	}
	return c, nil
}

func invalid(format string, args ...any) error {
	return &stardust.Error{Status: stardust.StatusInvalidArgument, Op: "client", Message: fmt.Sprintf(format, args...)}
}

// request is one request to be made.
type request struct {
	method, path string
	query        url.Values
	header       http.Header
	body         io.Reader
	size         int64 // of the body, in bytes; zero when that is not known
}

// under returns the address of a path of the tree.
func under(kind, path string) string {
	names := strings.Split(strings.Trim(path, "/"), "/")
	for i, name := range names {
		names[i] = url.PathEscape(name)
	}
	return "/v1/" + kind + "/" + strings.Join(names, "/")
}

// do makes a request. The caller closes the body of the answer.
func (c *Client) do(ctx context.Context, r *request) (*http.Response, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, r.body)
	if err != nil {
		return nil, invalid("%v", err)
	}
	if r.size > 0 {
		req.ContentLength = r.size
	}
	maps.Copy(req.Header, r.header)
	switch {
	case c.options.Token != "":
		req.Header.Set("Authorization", "Bearer "+c.options.Token)
	case c.options.User != "":
		req.SetBasicAuth(c.options.User, c.options.Password)
	}
	resp, err := c.options.HTTP.Do(req)
	if err != nil {
		return nil, transportError(ctx, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer func() { _ = resp.Body.Close() }()
		return nil, problemError(resp)
	}
	return resp, nil
}

// call makes a request and decodes the answer, unless out is nil.
func (c *Client) call(ctx context.Context, r *request, out any) error {
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if out == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return &stardust.Error{Status: stardust.StatusIO, Op: "client", Message: "the server's answer cannot be read: " + err.Error(), Err: err}
	}
	return nil
}

// post sends a document and decodes the answer.
func (c *Client) post(ctx context.Context, path string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return invalid("%v", err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return c.call(ctx, &request{method: http.MethodPost, path: path, header: header, body: bytes.NewReader(text)}, out)
}

// Info is what a database holds and what the client may do.
type Info struct {
	Name         string `json:"name"`
	Write        bool   `json:"write"`
	Bounded      bool   `json:"bounded"`
	At           int64  `json:"at"`
	LastRevision int64  `json:"lastRevision"`
	Files        int64  `json:"files"`
	Directories  int64  `json:"directories"`
	Payloads     int64  `json:"payloads"`
	PayloadBytes int64  `json:"payloadBytes"`
	Chunks       int64  `json:"chunks"`
	ChunkBytes   int64  `json:"chunkBytes"`
	StoredBytes  int64  `json:"storedBytes"`
	FileSize     int64  `json:"fileSize"`
}

// Info returns what the database holds and what the client may do.
func (c *Client) Info(ctx context.Context) (info Info, err error) {
	err = c.call(ctx, &request{method: http.MethodGet, path: "/v1/info"}, &info)
	return info, err
}

// Version is a node as it was from its revision on.
type Version struct {
	stardust.Record
	Time    time.Time
	Until   int64
	Removed bool
}

// UnmarshalJSON reads a version.
func (v *Version) UnmarshalJSON(text []byte) error {
	rest := struct {
		Time    time.Time `json:"time"`
		Until   int64     `json:"until"`
		Removed bool      `json:"removed"`
	}{}
	if err := json.Unmarshal(text, &v.Record); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &rest); err != nil {
		return err
	}
	v.Time, v.Until, v.Removed = rest.Time, rest.Until, rest.Removed
	return nil
}

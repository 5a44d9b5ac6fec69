package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/stardustdb/stardust"
)

// pageSize is how many records one request of a listing asks for.
const pageSize = 1000

// List yields the records of a directory's children in name order. With at zero
// it reads the present, page by page, so that concurrent writes may show. An
// error ends it.
func (c *Client) List(ctx context.Context, path string, at int64) iter.Seq2[stardust.Record, error] {
	return func(yield func(stardust.Record, error) bool) {
		query := url.Values{"limit": {strconv.Itoa(pageSize)}}
		setRevision(query, "at", at)
		for {
			var page []stardust.Record
			if err := c.call(ctx, &request{method: http.MethodGet, path: under("files", path), query: query}, &page); err != nil {
				yield(stardust.Record{}, err)
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			query.Set("after", page[len(page)-1].Name)
		}
	}
}

// ReadOptions say what to read. Nil means the zero value.
type ReadOptions struct {
	At     int64 // the revision; zero is the present
	Offset int64 // of the first byte
	Length int64 // how many bytes; zero is up to the end
}

// Read opens a file. The caller closes it.
func (c *Client) Read(ctx context.Context, path string, options *ReadOptions) (io.ReadCloser, error) {
	if options == nil {
		options = new(ReadOptions)
	}
	query := url.Values{}
	setRevision(query, "at", options.At)
	return c.read(ctx, under("files", path), query, options.Offset, options.Length)
}

func (c *Client) read(ctx context.Context, path string, query url.Values, offset, length int64) (io.ReadCloser, error) {
	if offset < 0 || length < 0 {
		return nil, invalid("the range %d, %d is negative", offset, length)
	}
	header := http.Header{}
	if offset > 0 || length > 0 {
		last := ""
		if length > 0 {
			last = strconv.FormatInt(offset+length-1, 10)
		}
		header.Set("Range", "bytes="+strconv.FormatInt(offset, 10)+"-"+last)
	}
	resp, err := c.do(ctx, &request{method: http.MethodGet, path: path, query: query, header: header})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Archive streams a directory and everything beneath it; format is tar or zip. The
// caller closes it.
func (c *Client) Archive(ctx context.Context, path, format string, at int64) (io.ReadCloser, error) {
	query := url.Values{"format": {format}}
	setRevision(query, "at", at)
	return c.read(ctx, under("files", path), query, 0, 0)
}

// WriteOptions are the conditions of a write. Nil means the zero value.
type WriteOptions struct {
	// New refuses to replace a file.
	New bool
	// Replaces refuses to write unless the file has this content.
	Replaces *stardust.Digest
}

// header returns the conditions as HTTP has them.
func (o *WriteOptions) header() http.Header {
	header := http.Header{}
	if o != nil && o.New {
		header.Set("If-None-Match", "*")
	}
	if o != nil && o.Replaces != nil {
		header.Set("If-Match", `"`+o.Replaces.String()+`"`)
	}
	return header
}

// Write stores what a reader yields as a file, and makes missing directories on
// the way. After an error nothing has changed, unless the answer was lost.
func (c *Client) Write(ctx context.Context, path string, from io.Reader, options *WriteOptions) (record stardust.Record, err error) {
	header := options.header()
	header.Set("Content-Type", "application/octet-stream")
	err = c.call(ctx, &request{method: http.MethodPut, path: under("files", path), header: header, body: from}, &record)
	return record, err
}

// Remove removes a file or a directory; a non-empty one only if recursive is
// set.
func (c *Client) Remove(ctx context.Context, path string, recursive bool) error {
	query := url.Values{}
	if recursive {
		query.Set("recursive", "true")
	}
	return c.call(ctx, &request{method: http.MethodDelete, path: under("files", path), query: query}, nil)
}

// MakeDirectory makes a directory and those that are missing on the way.
func (c *Client) MakeDirectory(ctx context.Context, path string) (record stardust.Record, err error) {
	err = c.call(ctx, &request{method: http.MethodPut, path: under("directories", path)}, &record)
	return record, err
}

// Move moves or renames a file or directory.
func (c *Client) Move(ctx context.Context, from, to string, replace bool) (record stardust.Record, err error) {
	err = c.post(ctx, "/v1/move", map[string]any{"from": from, "to": to, "replace": replace}, &record)
	return record, err
}

// Copy copies a file or directory, as it is or as it was at a revision.
func (c *Client) Copy(ctx context.Context, from string, at int64, to string, replace bool) (record stardust.Record, err error) {
	err = c.post(ctx, "/v1/copy", map[string]any{"from": from, "at": at, "to": to, "replace": replace}, &record)
	return record, err
}

// History returns the versions of what is at a path, the oldest first.
func (c *Client) History(ctx context.Context, path string) (versions []Version, err error) {
	err = c.call(ctx, &request{method: http.MethodGet, path: under("history", path)}, &versions)
	return versions, err
}

// Found is a node that a search found.
type Found struct {
	Path   string
	Record stardust.Record
}

// Search finds nodes beneath a path by a part of their names. complete reports
// whether there are no more.
func (c *Client) Search(ctx context.Context, path, name string, limit int) (found []Found, complete bool, err error) {
	var out struct {
		Found    []Found
		Complete bool
	}
	query := url.Values{"name": {name}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	err = c.call(ctx, &request{method: http.MethodGet, path: under("search", path), query: query}, &out)
	return out.Found, out.Complete, err
}

func setRevision(query url.Values, name string, revision int64) {
	if revision != 0 {
		query.Set(name, strconv.FormatInt(revision, 10))
	}
}

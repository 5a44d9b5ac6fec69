package client

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
)

// tusVersion is the version of the protocol of uploads that can be resumed.
const tusVersion = "1.0.0"

// Unfinished is an upload that waits for more bytes.
type Unfinished struct {
	ID      string    `json:"id"`
	Path    string    `json:"path"`
	Size    int64     `json:"size"`    // of the whole, in bytes
	Offset  int64     `json:"offset"`  // how many bytes are safe
	Active  bool      `json:"active"`  // bytes are arriving now
	Expires time.Time `json:"expires"` // when it ends unless more bytes come
}

// BeginUpload begins an upload, of a file of a known size, that can be resumed
// after a break, and returns its id. The conditions are checked when the upload
// ends.
func (c *Client) BeginUpload(ctx context.Context, path string, size int64, options *WriteOptions) (id string, err error) {
	header := options.header()
	header.Set("Tus-Resumable", tusVersion)
	header.Set("Upload-Length", strconv.FormatInt(size, 10))
	header.Set("Upload-Metadata", "path "+base64.StdEncoding.EncodeToString([]byte(path)))
	resp, err := c.do(ctx, &request{method: http.MethodPost, path: "/v1/uploads", header: header})
	if err != nil {
		return "", err
	}
	_ = resp.Body.Close() // it is empty
	location := resp.Header.Get("Location")
	return location[strings.LastIndexByte(location, '/')+1:], nil
}

// ContinueUpload sends what an upload lacks, from the beginning or after a
// break, and returns once the file is written. After an error it may be called
// again: what arrived is not sent again. The upload of an empty file ends when
// it begins.
func (c *Client) ContinueUpload(ctx context.Context, id string, from io.ReaderAt) error {
	path := "/v1/uploads/" + url.PathEscape(id)
	resp, err := c.do(ctx, &request{method: http.MethodHead, path: path, header: http.Header{"Tus-Resumable": {tusVersion}}})
	if err != nil {
		return err
	}
	_ = resp.Body.Close() // it is empty
	offset, errOffset := strconv.ParseInt(resp.Header.Get("Upload-Offset"), 10, 64)
	size, errSize := strconv.ParseInt(resp.Header.Get("Upload-Length"), 10, 64)
	if errOffset != nil || errSize != nil || offset < 0 || offset > size {
		return &stardust.Error{Status: stardust.StatusIO, Op: "client", Message: "the server's answer says no offset"}
	}
	if offset == size {
		return nil
	}
	header := http.Header{
		"Tus-Resumable": {tusVersion}, "Content-Type": {"application/offset+octet-stream"},
		"Upload-Offset": {strconv.FormatInt(offset, 10)},
	}
	return c.call(ctx, &request{method: http.MethodPatch, path: path, header: header, body: io.NewSectionReader(from, offset, size-offset), size: size - offset}, nil)
}

// CancelUpload ends an unfinished upload and forgets its bytes.
func (c *Client) CancelUpload(ctx context.Context, id string) error {
	header := http.Header{"Tus-Resumable": {tusVersion}}
	return c.call(ctx, &request{method: http.MethodDelete, path: "/v1/uploads/" + url.PathEscape(id), header: header}, nil)
}

// Uploads returns this client's unfinished uploads, the oldest first.
func (c *Client) Uploads(ctx context.Context) (list []Unfinished, err error) {
	err = c.call(ctx, &request{method: http.MethodGet, path: "/v1/uploads"}, &list)
	return list, err
}

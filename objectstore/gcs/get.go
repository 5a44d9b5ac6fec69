package gcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// Get implements objectstore.Store, in one request. The bytes of a whole object
// are compared with its checksum as they are read.
func (s *Store) Get(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	if options == nil {
		options = &objectstore.GetOptions{}
	}
	err := check(ctx, path)
	if err == nil && options.Range != nil {
		// A range that is malformed whatever the object's size is not sent.
		_, _, err = options.Range.Resolve(math.MaxInt64)
	}
	if err == nil && options.Version != "" && !isGeneration(options.Version) {
		err = fmt.Errorf("%w: %q is no generation", objectstore.ErrNotFound, options.Version)
	}
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	read := s.read
	if options.Head {
		read = s.head
	}
	result, err := read(ctx, path, options)
	if err != nil {
		return nil, s.fail(objectstore.OpGet, path, err)
	}
	return result, nil
}

// reading returns the parameters of a read. The answer is checked all the same:
// only conditions on one generation can be sent, and servers may ignore them.
func reading(options *objectstore.GetOptions) url.Values {
	query := url.Values{}
	if options.Version != "" {
		query.Set("generation", options.Version)
	}
	if isGeneration(options.IfMatch) {
		query.Set("ifGenerationMatch", options.IfMatch)
	}
	if isGeneration(options.IfNoneMatch) {
		query.Set("ifGenerationNotMatch", options.IfNoneMatch)
	}
	return query
}

func (s *Store) head(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	var found object
	if err := s.call(ctx, http.MethodGet, s.objectURL(path), reading(options), nil, &found); err != nil {
		return nil, err
	}
	meta := found.meta()
	meta.Path = path
	if err := options.Check(meta); err != nil {
		return nil, err
	}
	start, end, err := options.Range.Resolve(meta.Size)
	if err != nil {
		return nil, err
	}
	return &objectstore.GetResult{Meta: meta, Attributes: found.attributes(), Start: start, End: end}, nil
}

func (s *Store) read(ctx context.Context, path objectstore.Path, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	query := reading(options)
	query.Set("alt", "media")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.objectURL(path)+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	// Without this the service sends compressed objects decompressed.
	request.Header.Set("Accept-Encoding", "gzip")
	if options.Range != nil {
		request.Header.Set("Range", options.Range.String())
	}
	answer, err := s.send(request)
	if err != nil {
		return nil, err
	}
	result, err := s.result(path, answer, options)
	if err != nil {
		_ = answer.Body.Close()
		return nil, err
	}
	return result, nil
}

// result makes a result of an answer, whatever the server made of the range.
func (s *Store) result(path objectstore.Path, answer *http.Response, options *objectstore.GetOptions) (*objectstore.GetResult, error) {
	length := answer.ContentLength
	if length < 0 {
		return nil, errors.New("the answer does not say how long the object is")
	}
	found, err := described(path, answer.Header)
	if err != nil {
		return nil, err
	}
	start, end, size := int64(0), length, length
	if text := answer.Header.Get("Content-Range"); text != "" {
		if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &start, &end, &size); err != nil {
			return nil, fmt.Errorf("the answer has the range %q: %w", text, err)
		}
		end++
	}
	found.Size = size
	meta := found.meta()
	if err := options.Check(meta); err != nil {
		return nil, err
	}
	from, to, err := options.Range.Resolve(size)
	if err != nil {
		return nil, err
	}
	if from < start || to > end || end-start != length {
		return nil, fmt.Errorf("asked for bytes [%d, %d), the answer has %d, [%d, %d)", from, to, length, start, end)
	}
	// A server without ranges sends everything: skip to what was asked for.
	if _, err := io.CopyN(io.Discard, answer.Body, from-start); err != nil {
		return nil, err
	}
	var body io.ReadCloser = wire.NewBody(answer.Body, to-from)
	if to-from == size && found.CRC32C != "" {
		body = &verified{ReadCloser: body, crc: newCRC32C(), want: found.CRC32C}
	}
	return &objectstore.GetResult{Meta: meta, Attributes: found.attributes(), Start: from, End: to, Body: body}, nil
}

package gcs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
	"github.com/stardustdb/stardust/objectstore/internal/wire"
)

// Put implements objectstore.Store, in one request that names the object's
// attributes and carries its bytes, whatever their number. The checksum of a
// body that can be read twice goes before it, so that the service refuses
// damaged bytes; that of a stream is compared afterwards.
func (s *Store) Put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*objectstore.PutResult, error) {
	if options == nil {
		options = &objectstore.PutOptions{}
	}
	err := errors.Join(check(ctx, path), body.Validate(), validate(options.Attributes))
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	stored, err := s.put(ctx, path, body, options)
	if err != nil {
		return nil, s.fail(objectstore.OpPut, path, err)
	}
	return &objectstore.PutResult{ETag: stored.Generation, Version: stored.Generation}, nil
}

func (s *Store) put(ctx context.Context, path objectstore.Path, body objectstore.Body, options *objectstore.PutOptions) (*object, error) {
	query, err := condition(options.Mode, options.UpdateVersion)
	if err != nil {
		return nil, err
	}
	wanted := describe(options.Attributes)
	wanted.Name = string(path)
	if wanted.CRC32C, err = sumOf(body); err != nil {
		return nil, err
	}
	query.Set("uploadType", "multipart")
	reader, source := wire.NewSource(ctx, body)
	crc := newCRC32C()
	request, err := s.related(ctx, query, wanted, io.TeeReader(reader, crc), body.Size())
	if err != nil {
		return nil, err
	}
	answer, err := s.send(request)
	if err != nil {
		return nil, writeError(source.Cause(err), options.Mode)
	}
	defer answer.Body.Close()
	var stored object
	if err := decode(answer, &stored); err != nil {
		return nil, err
	}
	if err := matches(&stored, body.Size(), encode(crc.Sum32())); err != nil {
		return nil, err
	}
	return &stored, nil
}

// matches compares what the service says that it stored with what was sent.
func matches(stored *object, size int64, sum string) error {
	if !isGeneration(stored.Generation) {
		return errors.New("the answer does not name the object's generation")
	}
	if stored.Size != size {
		return fmt.Errorf("the service stored %d of %d bytes", stored.Size, size)
	}
	if stored.CRC32C != "" && stored.CRC32C != sum {
		return fmt.Errorf("the service stored bytes with the CRC32C %s, sent were %s: damaged on the way", stored.CRC32C, sum)
	}
	return nil
}

// related returns a request of two parts, as the service takes an object
// together with its attributes, with the exact length of both.
func (s *Store) related(ctx context.Context, query url.Values, wanted *object, data io.Reader, size int64) (*http.Request, error) {
	description, err := json.Marshal(wanted)
	if err != nil {
		return nil, err
	}
	contentType := wanted.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	var head bytes.Buffer
	parts := multipart.NewWriter(&head)
	part, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {"application/json; charset=UTF-8"}})
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(description); err != nil {
		return nil, err
	}
	if _, err := parts.CreatePart(textproto.MIMEHeader{"Content-Type": {contentType}}); err != nil {
		return nil, err
	}
	before := head.Len()
	if err := parts.Close(); err != nil {
		return nil, err
	}
	text := head.Bytes()
	all := io.MultiReader(bytes.NewReader(text[:before]), data, bytes.NewReader(text[before:]))
	address := s.upload + "/b/" + url.PathEscape(s.bucket) + "/o?" + query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, all)
	if err != nil {
		return nil, err
	}
	request.ContentLength = int64(len(text)) + size
	request.Header.Set("Content-Type", "multipart/related; boundary="+parts.Boundary())
	return request, nil
}

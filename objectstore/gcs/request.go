package gcs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/stardustdb/stardust/objectstore"
)

// maxDocument bounds the answer to a request of the API; a page of a list is a
// few megabytes.
const maxDocument = 64 << 20

// objectURL returns the URL of an object in the API.
func (s *Store) objectURL(path objectstore.Path) string {
	return s.base + "/b/" + url.PathEscape(s.bucket) + "/o/" + url.PathEscape(string(path))
}

// send sends a request and returns an answer that grants it; the caller closes
// its body.
func (s *Store) send(request *http.Request) (*http.Response, error) {
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, refusal(answer)
	}
	return answer, nil
}

// call sends one request of the API, with a document when in is not nil, and
// decodes the answer into out unless that is nil.
func (s *Store) call(ctx context.Context, method, address string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.send(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return decode(answer, out)
}

// decode reads the document of an answer into out, unless that is nil.
func decode(answer *http.Response, out any) error {
	if out == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(answer.Body, maxErrorBody))
		return err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the answer is not what the service sends: %w", err)
	}
	return nil
}

// condition returns the parameter that makes the service enforce a mode.
func condition(mode objectstore.PutMode, update objectstore.UpdateVersion) (url.Values, error) {
	if err := mode.Validate(update); err != nil {
		return nil, err
	}
	query := url.Values{}
	switch mode {
	case objectstore.Create:
		query.Set("ifGenerationMatch", "0")
	case objectstore.Update:
		generation, err := expected(update)
		if err != nil {
			return nil, err
		}
		query.Set("ifGenerationMatch", generation)
	case objectstore.Overwrite:
	}
	return query, nil
}

// expected returns the generation that an update replaces. No object has what
// is not a generation.
func expected(update objectstore.UpdateVersion) (string, error) {
	if update.ETag != "" && update.Version != "" && update.ETag != update.Version {
		return "", fmt.Errorf("%w: ETag %q and version %q are of different objects", objectstore.ErrPrecondition, update.ETag, update.Version)
	}
	generation := update.ETag
	if generation == "" {
		generation = update.Version
	}
	if !isGeneration(generation) {
		return "", fmt.Errorf("%w: %q is no generation", objectstore.ErrPrecondition, generation)
	}
	return generation, nil
}

func isGeneration(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n > 0
}

package gcs

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// page is one answer to a list.
type page struct {
	Items         []object
	Prefixes      []string
	NextPageToken string
}

// List implements objectstore.Store, a page of up to 1000 objects a request.
func (s *Store) List(ctx context.Context, options *objectstore.ListOptions) iter.Seq2[objectstore.ObjectMeta, error] {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	return func(yield func(objectstore.ObjectMeta, error) bool) {
		for found, err := range s.objects(ctx, options.Prefix, options.Offset) {
			if err != nil {
				yield(objectstore.ObjectMeta{}, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err))
				return
			}
			if isReserved(found.Name) {
				continue
			}
			if !yield(found.meta(), nil) {
				return
			}
		}
	}
}

// objects yields all objects with a prefix after an offset, reserved or not.
func (s *Store) objects(ctx context.Context, prefix, offset string) iter.Seq2[*object, error] {
	return func(yield func(*object, error) bool) {
		query := url.Values{}
		if offset != "" {
			query.Set("startOffset", offset) // the offset itself is listed, too
		}
		for page, err := range s.pages(ctx, prefix, query) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if page.Items[i].Name <= offset {
					continue
				}
				if !yield(&page.Items[i], nil) {
					return
				}
			}
		}
	}
}

// ListWithDelimiter implements objectstore.Store.
func (s *Store) ListWithDelimiter(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	if options == nil {
		options = &objectstore.ListOptions{}
	}
	result, err := s.level(ctx, options)
	if err != nil {
		return nil, s.fail(objectstore.OpList, objectstore.Path(options.Prefix), err)
	}
	return result, nil
}

func (s *Store) level(ctx context.Context, options *objectstore.ListOptions) (*objectstore.ListResult, error) {
	result := &objectstore.ListResult{}
	for page, err := range s.pages(ctx, options.Prefix, url.Values{"delimiter": {"/"}}) {
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if found := &page.Items[i]; found.Name > options.Offset && !isReserved(found.Name) {
				result.Objects = append(result.Objects, found.meta())
			}
		}
		for _, prefix := range page.Prefixes {
			listed, err := s.goesBeyond(ctx, prefix, options.Offset)
			if err != nil {
				return nil, err
			}
			if listed {
				result.CommonPrefixes = append(result.CommonPrefixes, prefix)
			}
		}
	}
	return result, nil
}

// goesBeyond reports whether there is an object with the prefix after the offset.
// Servers differ in what they make of an offset within a common prefix.
func (s *Store) goesBeyond(ctx context.Context, prefix, offset string) (bool, error) {
	if isReserved(prefix) {
		return false, nil
	}
	if !strings.HasPrefix(offset, prefix) {
		return prefix > offset, nil
	}
	for _, err := range s.objects(ctx, prefix, offset) {
		return err == nil, err
	}
	return false, nil
}

func (s *Store) pages(ctx context.Context, prefix string, query url.Values) iter.Seq2[*page, error] {
	return func(yield func(*page, error) bool) {
		if prefix != "" {
			query.Set("prefix", prefix)
		}
		query.Set("fields", "nextPageToken,prefixes,items(name,generation,size,updated)")
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			answer := &page{}
			err := s.call(ctx, http.MethodGet, s.base+"/b/"+url.PathEscape(s.bucket)+"/o", query, nil, answer)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(answer, nil) || answer.NextPageToken == "" {
				return
			}
			query.Set("pageToken", answer.NextPageToken)
		}
	}
}

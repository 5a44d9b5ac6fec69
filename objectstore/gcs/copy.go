package gcs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/stardustdb/stardust/objectstore"
)

// Copy implements objectstore.Store; no byte passes through this machine.
func (s *Store) Copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if err := s.copy(ctx, from, to, options); err != nil {
		return s.fail(objectstore.OpCopy, from, err)
	}
	return nil
}

// Rename implements objectstore.Store as a Copy and a Delete.
func (s *Store) Rename(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if err := s.copy(ctx, from, to, options); err != nil {
		return s.fail(objectstore.OpRename, from, err)
	}
	if from == to {
		return nil
	}
	if err := s.remove(ctx, string(from)); err != nil {
		return s.fail(objectstore.OpRename, from, fmt.Errorf("copied to %q, but not removed: %w", to, classify(err)))
	}
	return nil
}

func (s *Store) copy(ctx context.Context, from, to objectstore.Path, options *objectstore.CopyOptions) error {
	if options == nil {
		options = &objectstore.CopyOptions{}
	}
	if err := check(ctx, from, to); err != nil {
		return err
	}
	if options.Mode == objectstore.Update {
		return fmt.Errorf("%w: mode Update", objectstore.ErrUnsupported)
	}
	query, err := condition(options.Mode, objectstore.UpdateVersion{})
	if err != nil {
		return err
	}
	var source object
	if err := s.call(ctx, http.MethodGet, s.objectURL(from), nil, nil, &source); err != nil {
		return err
	}
	if from == to && options.Attributes == nil && options.Mode == objectstore.Overwrite {
		return nil
	}
	var description any
	if options.Attributes != nil {
		if err := validate(*options.Attributes); err != nil {
			return err
		}
		description = describe(*options.Attributes)
	}
	query.Set("sourceGeneration", source.Generation)
	return s.rewrite(ctx, from, to, query, description, options.Mode)
}

// rewrite copies an object. The service may need several calls for one.
func (s *Store) rewrite(ctx context.Context, from, to objectstore.Path, query url.Values, description any, mode objectstore.PutMode) error {
	address := s.objectURL(from) + "/rewriteTo/b/" + url.PathEscape(s.bucket) + "/o/" + url.PathEscape(string(to))
	for {
		var answer struct {
			Done         bool
			RewriteToken string
		}
		if err := s.call(ctx, http.MethodPost, address, query, description, &answer); err != nil {
			if err = writeError(err, mode); errors.Is(err, objectstore.ErrNotFound) {
				err = fmt.Errorf("the source was replaced or removed during the copy: %w", err)
			}
			return err
		}
		if answer.Done {
			return nil
		}
		if answer.RewriteToken == "" {
			return errors.New("the answer to a copy says neither that it is done nor how to continue")
		}
		query.Set("rewriteToken", answer.RewriteToken)
	}
}

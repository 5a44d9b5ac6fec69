package azure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"

	"github.com/stardustdb/stardust/internal/clock"
	"github.com/stardustdb/stardust/objectstore"
)

// How long to wait before asking whether the service has finished a copy: at
// first, and at most.
const (
	firstPoll = 20 * time.Millisecond
	lastPoll  = 5 * time.Second
)

// Copy implements objectstore.Store. No byte passes through this machine,
// unless attributes are replaced, which the service cannot do together with a
// copy.
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
	if err := s.remove(ctx, from); err != nil {
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
	conditions, err := writing(options.Mode, objectstore.UpdateVersion{})
	if err != nil {
		return err
	}
	source, err := head(ctx, s.blob(from), from, &objectstore.GetOptions{})
	if err != nil {
		return err
	}
	switch {
	case options.Attributes != nil:
		return s.rewrite(ctx, source, to, options)
	case from == to && options.Mode == objectstore.Overwrite:
		return nil
	}
	return s.copyInside(ctx, source, to, conditions, options.Mode)
}

// rewrite copies an object through this machine, with other attributes.
func (s *Store) rewrite(ctx context.Context, source *objectstore.GetResult, to objectstore.Path, options *objectstore.CopyOptions) error {
	read, err := get(ctx, s.blob(source.Meta.Path), source.Meta.Path, &objectstore.GetOptions{IfMatch: source.Meta.ETag})
	if err != nil {
		return err
	}
	defer read.Body.Close()
	tags, err := s.Tags(ctx, source.Meta.Path)
	if err != nil {
		return err
	}
	put := &objectstore.PutOptions{Mode: options.Mode, Attributes: *options.Attributes, Tags: tags}
	if source.Meta.Path == to {
		// Nothing that was written in between is overwritten.
		put.Mode, put.UpdateVersion = objectstore.Update, objectstore.UpdateVersion{ETag: source.Meta.ETag}
	}
	_, err = s.put(ctx, to, objectstore.Stream(read.Body, source.Meta.Size), put)
	return err
}

// copyInside has the service copy an object, and waits for it.
func (s *Store) copyInside(ctx context.Context, source *objectstore.GetResult, to objectstore.Path, conditions *blob.AccessConditions, mode objectstore.PutMode) error {
	from := s.blob(source.Meta.Path)
	started, err := s.blob(to).StartCopyFromURL(ctx, from.URL(), &blob.StartCopyFromURLOptions{
		AccessConditions:               conditions,
		SourceModifiedAccessConditions: &blob.SourceModifiedAccessConditions{SourceIfMatch: quote(source.Meta.ETag)},
	})
	if err != nil {
		return writeError(err, mode)
	}
	status, wait := value(started.CopyStatus), firstPoll
	for status == blob.CopyStatusTypePending {
		if err := clock.Sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, lastPoll)
		p, err := s.blob(to).GetProperties(ctx, nil)
		if err != nil {
			return err
		}
		if value(p.CopyID) != value(started.CopyID) {
			return errors.New("another write replaced the copy before it was done")
		}
		status = value(p.CopyStatus)
	}
	if status != blob.CopyStatusTypeSuccess {
		return fmt.Errorf("the service ended the copy as %q", status)
	}
	return nil
}

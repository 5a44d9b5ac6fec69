package dbstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/committed"
	"github.com/stardustdb/stardust/gateway/internal/patience"
	"github.com/stardustdb/stardust/objectstore"
)

// Store is a directory of a database. It may be used concurrently, also with other
// Stores and other writers of the same database. It holds nothing open; the
// database is the caller's to close.
type Store struct {
	db      *stardust.DB
	dir     string // the path of the directory, without slashes around it; "" is the root
	times   *committed.Times
	now     func() time.Time
	uploads uploads
	lanes   patience.Lanes
}

// Options are the options of [New].
type Options struct {
	// Now is the clock for the times shown of parts and uploads in progress; nil
	// means time.Now. Objects have the times of their commits.
	Now func() time.Time
}

var (
	_ objectstore.MultipartStore     = (*Store)(nil)
	_ objectstore.TagReader          = (*Store)(nil)
	_ objectstore.VersionLister      = (*Store)(nil)
	_ objectstore.ConditionalDeleter = (*Store)(nil)
)

// New returns the Store of a directory, by its path from the root; "" is the root.
// The directory need not exist yet: until it does, calls fail with ErrNoBucket. The
// database must have the objects plugin.
func New(db *stardust.DB, directory string, options *Options) *Store {
	if options == nil {
		options = &Options{}
	}
	return newStore(db, directory, new(committed.Times), options.Now)
}

func newStore(db *stardust.DB, directory string, t *committed.Times, now func() time.Time) *Store {
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock
	}
	return &Store{db: db, dir: strings.Trim(directory, "/"), times: t, now: now}
}

// String names the store.
func (s *Store) String() string { return "database directory " + "/" + s.dir }

func (s *Store) fail(op string, path objectstore.Path, err error) error {
	if err == nil {
		return nil
	}
	return &objectstore.Error{Op: op, Store: s.String(), Path: string(path), Err: classify(err)}
}

// classify adds the sentinel that an error of the database means.
func classify(err error) error {
	var own *stardust.Error
	if errors.Is(err, patience.ErrBusy) || errors.Is(err, patience.ErrSlow) {
		return objectstore.Transient(err, 0)
	}
	if !errors.As(err, &own) {
		return err
	}
	var sentinel error
	switch own.Status {
	case stardust.StatusNotFound:
		sentinel = objectstore.ErrNotFound
	case stardust.StatusClosed:
		sentinel = objectstore.ErrClosed
	case stardust.StatusCanceled:
		sentinel = context.Canceled
		if errors.Is(err, context.DeadlineExceeded) {
			sentinel = context.DeadlineExceeded
		}
	case stardust.StatusUnavailable:
		sentinel = objectstore.ErrPermissionDenied
	case stardust.StatusInvalidArgument:
		sentinel = objectstore.ErrInvalidOption
		if own.Code == stardust.CodeOtherKind {
			sentinel = objectstore.ErrUnsupported
		}
	case stardust.StatusConflict:
		switch own.Code {
		case stardust.CodeNameTaken:
			sentinel = objectstore.ErrAlreadyExists
		case stardust.CodeStaleRevision:
			sentinel = objectstore.ErrPrecondition
		default:
			return objectstore.Transient(err, 0)
		}
	case stardust.StatusOutOfMemory:
		return objectstore.Transient(err, 0)
	case stardust.StatusIO:
		if own.Code != stardust.CodeNoSpace {
			return err
		}
		sentinel = objectstore.ErrNoSpace
	default:
		return err
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}

// tree returns the present state, to write to, once the directory is there.
func (s *Store) tree(ctx context.Context) (stardust.Tree, error) {
	tree := s.db.Tree().WithContext(ctx)
	_, err := s.root(tree)
	return tree, err
}

// view returns a state that does not change.
func (s *Store) view(ctx context.Context) (stardust.Tree, error) {
	snapshot, err := s.db.Snapshot()
	if err != nil {
		return stardust.Tree{}, err
	}
	tree := snapshot.Tree().WithContext(ctx)
	_, err = s.root(tree)
	return tree, err
}

// root returns the entity of the directory.
func (s *Store) root(tree stardust.Tree) (int64, error) {
	record, err := tree.Resolve(s.dir)
	switch {
	case errors.Is(err, stardust.StatusNotFound), err == nil && record.Kind != stardust.KindDirectory:
		return 0, fmt.Errorf("%w: there is no directory %q in the database", objectstore.ErrNoBucket, s.dir)
	case err != nil:
		return 0, err
	}
	return record.Entity, nil
}

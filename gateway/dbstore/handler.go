package dbstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/gateway/internal/committed"
	"github.com/stardustdb/stardust/gateway/s3"
	"github.com/stardustdb/stardust/objectstore"
)

// The operations on buckets; objectstore names those on objects.
const (
	opListBuckets  = "list buckets"
	opCreateBucket = "create bucket"
	opDeleteBucket = "delete bucket"
)

// NewHandler serves a database over S3: every directory in the tree's root
// whose name can be a bucket's is a bucket, also if another program makes it
// later. Creating a bucket makes a directory, and deleting an empty one removes
// it.
//
// Of the options only credentials (or Anonymous) are needed. Options.Bucket and
// Buckets must be empty, and OpenBucket, ListBuckets, CreateBucket, DeleteBucket,
// LoadCORS and SaveCORS are this function's to set. Authorize bounds what each access key may do. On a
// database that is open for reading alone, writes are AccessDenied.
//
// The handler must see the request's path as the client sent it (not behind an
// http.ServeMux, which redirects "a//b"), at the root of its host. Close it after
// the server has shut down, and then the database, which stays the caller's.
func NewHandler(db *stardust.DB, options s3.Options) (*s3.Handler, error) {
	if options.Bucket != "" || len(options.Buckets) > 0 {
		return nil, errors.New("dbstore: Options.Bucket and Options.Buckets must be empty: the buckets are the directories of the database")
	}
	b := &buckets{db: db, now: options.Clock}
	options.OpenBucket, options.ListBuckets = b.open, b.list
	options.CreateBucket, options.DeleteBucket = b.create, b.remove
	options.LoadCORS, options.SaveCORS = b.loadCORS, b.saveCORS
	return s3.NewHandler(nil, options)
}

// buckets are the directories of the root.
type buckets struct {
	db    *stardust.DB
	times committed.Times
	now   func() time.Time
}

func (b *buckets) open(ctx context.Context, name string) (objectstore.Store, error) {
	s := newStore(b.db, name, &b.times, b.now)
	_, err := s.tree(ctx)
	return s, s.fail(objectstore.OpOpen, "", err)
}

func (b *buckets) list(ctx context.Context) (map[string]time.Time, error) {
	root := newStore(b.db, "", &b.times, b.now)
	tree, err := root.view(ctx)
	if err != nil {
		return nil, root.fail(opListBuckets, "", err)
	}
	names := make(map[string]time.Time)
	for record, err := range tree.Children(0) {
		if err != nil {
			return nil, root.fail(opListBuckets, "", err)
		}
		if record.Kind != stardust.KindDirectory {
			continue
		}
		if names[record.Name], err = b.times.Of(b.db, record.Revision); err != nil {
			return nil, root.fail(opListBuckets, "", err)
		}
	}
	return names, nil
}

func (b *buckets) create(ctx context.Context, name string) (objectstore.Store, error) {
	s := newStore(b.db, name, &b.times, b.now)
	_, err := b.db.Tree().WithContext(ctx).Create(stardust.NewNode{Name: name})
	return s, s.fail(opCreateBucket, "", err)
}

func (b *buckets) remove(ctx context.Context, name string, _ objectstore.Store) error {
	s := newStore(b.db, name, &b.times, b.now)
	tree := b.db.Tree().WithContext(ctx)
	directory, err := s.root(tree)
	if err == nil {
		err = tree.Remove(directory, 0)
	}
	var own *stardust.Error
	if errors.As(err, &own) && own.Code == stardust.CodeNotEmpty {
		err = fmt.Errorf("%w: the bucket %s is no longer empty", objectstore.ErrPrecondition, strings.Trim(name, "/"))
	}
	return s.fail(opDeleteBucket, "", err)
}

package s3

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// maxBuckets is the most entries of a page of ListBuckets.
const maxBuckets = 10000

// buckets are the operations on buckets themselves.
type buckets struct{ *exchange }

// list serves ListBuckets.
func (x buckets) list() error {
	limit := maxBuckets
	if value := x.query.Get("max-buckets"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxBuckets {
			return s3err.MaxBucketsInvalid.New(maxBuckets).Argument("max-buckets", value)
		}
		limit = n
	}
	after := x.query.Get("continuation-token") // the name of the last one
	prefix := x.query.Get("prefix")
	d := document.ListAllMyBucketsResult{Owner: document.NewOwner(x.owner()), Prefix: prefix}
	count, last, truncated := 0, "", false
	buckets, err := x.h.listBuckets(x.r.Context())
	if err != nil {
		return err
	}
	for _, b := range buckets {
		if b.name <= after || !strings.HasPrefix(b.name, prefix) || x.allow(b.name, "", false) != nil {
			continue
		}
		if truncated = count == limit; truncated {
			break
		}
		count, last = count+1, b.name
		d.Buckets.Bucket = append(d.Buckets.Bucket, document.Bucket{
			Name: b.name, CreationDate: document.Time(b.created), BucketRegion: x.options.Region,
		})
	}
	if truncated {
		d.ContinuationToken = last
	}
	return x.writeDocument(http.StatusOK, d)
}

// head serves HeadBucket. It asks the Store for its first object, so that a
// bucket elsewhere that does not exist, or denies access, is not said to be there.
func (x buckets) head() error {
	for _, err := range x.bucket.store.List(x.r.Context(), &objectstore.ListOptions{Extensions: x.extensions()}) {
		if err != nil {
			return err
		}
		break
	}
	x.w.Header().Set("X-Amz-Bucket-Region", x.options.Region)
	x.w.Header().Set("Content-Type", "application/xml")
	x.writeStatus(http.StatusOK)
	return nil
}

// create serves CreateBucket.
func (x buckets) create() error {
	if err := x.checkACL(); err != nil {
		return err
	}
	switch ownership := x.header("X-Amz-Object-Ownership"); ownership {
	case "", "BucketOwnerEnforced":
	case "BucketOwnerPreferred", "ObjectWriter":
		return s3err.NotImplemented.New()
	default:
		return s3err.OwnershipInvalid.New(ownership)
	}
	if strings.EqualFold(x.header("X-Amz-Bucket-Object-Lock-Enabled"), "true") {
		return s3err.NotImplemented.New()
	}
	if err := x.checkLocation(); err != nil {
		return err
	}
	// One at a time, so that two of a name don't both make a Store.
	x.h.creating.Lock()
	defer x.h.creating.Unlock()
	if exists, err := x.exists(); err != nil {
		return err
	} else if exists {
		return s3err.BucketOwned.New()
	}
	if x.options.CreateBucket == nil {
		return s3err.BucketCreationDenied.New()
	}
	store, err := x.options.CreateBucket(x.r.Context(), x.bucketName)
	if err != nil {
		return err
	}
	b := x.h.newBucket(x.bucketName, store, true)
	b.elsewhere = x.options.OpenBucket != nil
	x.h.buckets.add(b)
	x.w.Header().Set("Location", "/"+x.bucketName)
	x.w.Header().Set("X-Amz-Bucket-Arn", "arn:aws:s3:::"+x.bucketName)
	x.writeEmpty()
	return nil
}

// exists reports whether there is a bucket of the request's name.
func (x buckets) exists() (bool, error) {
	b, err := x.h.buckets.get(x.bucketName)
	if err == nil && !b.elsewhere {
		return true, nil
	}
	if x.options.OpenBucket == nil {
		return false, nil
	}
	_, err = x.options.OpenBucket(x.r.Context(), x.bucketName)
	if errors.Is(err, objectstore.ErrNoBucket) {
		return false, nil
	}
	return err == nil, err
}

// checkLocation reads the optional document that says where a bucket should be.
func (x buckets) checkLocation() error {
	if x.r.ContentLength == 0 {
		return nil
	}
	return x.readDocument("CreateBucketConfiguration", false, func(c xmlChild) error {
		switch c.name() {
		case "LocationConstraint":
			region, err := c.text()
			if region = strings.TrimSpace(region); err == nil && region != "" && region != x.options.Region {
				return s3err.LocationInvalid.New().With("LocationConstraint", region)
			}
			return err
		case "Tags":
			var tags struct {
				Tag []struct{}
			}
			if err := c.decode(&tags); err != nil || len(tags.Tag) == 0 {
				return err
			}
			return s3err.NotImplemented.New()
		}
		return c.skip()
	})
}

// delete serves DeleteBucket.
func (x buckets) delete() error {
	if !x.bucket.dynamic || x.options.DeleteBucket == nil {
		return s3err.BucketDeletionDenied.New()
	}
	ctx := x.r.Context()
	for _, err := range x.bucket.store.List(ctx, &objectstore.ListOptions{Extensions: x.extensions()}) {
		if err != nil {
			return err
		}
		return s3err.BucketNotEmpty.New()
	}
	if !x.h.buckets.remove(x.bucket) {
		return noSuchBucket(x.bucketName)
	}
	err := errors.Join(x.bucket.close(ctx), x.options.DeleteBucket(ctx, x.bucketName, x.bucket.store))
	if err != nil {
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

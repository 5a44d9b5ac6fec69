package s3

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// maxBuckets is the most entries of a page of ListBuckets.
const maxBuckets = 10000

// listBuckets serves ListBuckets.
func (x *exchange) listBuckets() error {
	limit := maxBuckets
	if value := x.query.Get("max-buckets"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxBuckets {
			return s3err.MaxBucketsInvalid.New(maxBuckets).Argument("max-buckets", value)
		}
		limit = n
	}
	after := ""
	if token := x.query.Get("continuation-token"); token != "" {
		var err error
		if after, err = parseToken(token); err != nil {
			return err
		}
	}
	prefix := x.query.Get("prefix")
	d := newDocument("ListAllMyBucketsResult", namespace)
	d.user("Owner", x.owner())
	d.open("Buckets")
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
		d.open("Bucket")
		d.text("Name", b.name)
		d.time("CreationDate", b.created)
		d.text("BucketRegion", x.h.options.Region)
		d.close("Bucket")
	}
	d.close("Buckets")
	d.optional("Prefix", prefix)
	if truncated {
		d.text("ContinuationToken", newToken(last))
	}
	x.writeDocument(http.StatusOK, d)
	return nil
}

// headBucket serves HeadBucket. It asks the Store for its first object, so that a
// bucket elsewhere that does not exist, or denies access, is not said to be there.
func (x *exchange) headBucket() error {
	for _, err := range x.bucket.store.List(x.r.Context(), &objectstore.ListOptions{Extensions: x.extensions()}) {
		if err != nil {
			return err
		}
		break
	}
	x.w.Header().Set("X-Amz-Bucket-Region", x.h.options.Region)
	x.w.Header().Set("Content-Type", "application/xml")
	x.writeStatus(http.StatusOK)
	return nil
}

// createBucket serves CreateBucket.
func (x *exchange) createBucket() error {
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
	if x.h.options.CreateBucket == nil {
		return s3err.BucketCreationDenied.New()
	}
	store, err := x.h.options.CreateBucket(x.r.Context(), x.bucketName)
	if err != nil {
		return err
	}
	b := x.h.newBucket(x.bucketName, store, true)
	b.elsewhere = x.h.options.OpenBucket != nil
	x.h.buckets.add(b)
	x.w.Header().Set("Location", "/"+x.bucketName)
	x.w.Header().Set("X-Amz-Bucket-Arn", "arn:aws:s3:::"+x.bucketName)
	x.w.Header().Set("Content-Length", "0")
	x.writeStatus(http.StatusOK)
	return nil
}

// exists reports whether there is a bucket of the request's name.
func (x *exchange) exists() (bool, error) {
	b, err := x.h.buckets.get(x.bucketName)
	if err == nil && !b.elsewhere {
		return true, nil
	}
	if x.h.options.OpenBucket == nil {
		return false, nil
	}
	_, err = x.h.options.OpenBucket(x.r.Context(), x.bucketName)
	if errors.Is(err, objectstore.ErrNoBucket) {
		return false, nil
	}
	return err == nil, err
}

// checkLocation reads the optional document that says where a bucket should be.
func (x *exchange) checkLocation() error {
	if x.r.ContentLength == 0 {
		return nil
	}
	return x.readDocument("CreateBucketConfiguration", false, func(c xmlChild) error {
		switch c.name() {
		case "LocationConstraint":
			region, err := c.text()
			if region = strings.TrimSpace(region); err == nil && region != "" && region != x.h.options.Region {
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

// deleteBucket serves DeleteBucket.
func (x *exchange) deleteBucket() error {
	if !x.bucket.dynamic || x.h.options.DeleteBucket == nil {
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
	err := errors.Join(x.bucket.close(ctx), x.h.options.DeleteBucket(ctx, x.bucketName, x.bucket.store))
	if err != nil {
		return err
	}
	x.writeStatus(http.StatusNoContent)
	return nil
}

package s3

import (
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// copySource is what an x-amz-copy-source header names.
type copySource struct {
	bucket  string
	key     string
	version string
}

// parseCopySource parses "[/]bucket/key[?versionId=id]", percent-encoded once.
func parseCopySource(header string) (copySource, error) {
	raw, version, _ := strings.Cut(header, "?versionId=")
	raw = strings.TrimPrefix(raw, "/")
	path, err := url.PathUnescape(raw)
	if err != nil {
		return copySource{}, s3err.CopySourceEncoding.New().Argument("x-amz-copy-source", header)
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case !validBucketName(bucket):
		return copySource{}, s3err.CopySourceBucket.New().Argument("x-amz-copy-source", header)
	case key == "":
		return copySource{}, s3err.CopySourceIncomplete.New().Argument("x-amz-copy-source", key)
	}
	if version == "null" {
		version = ""
	}
	return copySource{bucket, key, version}, nil
}

// copies make objects and parts from other objects.
type copies struct{ *exchange }

// source finds the object that the request copies from.
func (x copies) source() (*bucket, objectstore.Path, *objectstore.GetOptions, error) {
	source, err := parseCopySource(x.r.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return nil, "", nil, err
	}
	if owner := x.header("X-Amz-Source-Expected-Bucket-Owner"); owner != "" && owner != x.owner() {
		return nil, "", nil, s3err.AccessDenied.New()
	}
	if err := x.allow(source.bucket, source.key, false); err != nil {
		return nil, "", nil, err
	}
	b, err := x.h.bucket(x.r.Context(), source.bucket)
	if err != nil {
		return nil, "", nil, err
	}
	path, err := parseKey(source.key)
	if err != nil {
		return nil, "", nil, err
	}
	o := &objectstore.GetOptions{Version: source.version}
	if x.options.Extensions != nil {
		o.Extensions = x.options.Extensions(x.r, source.bucket, path)
	}
	return b, path, o, sourceConditions(x.header).apply(o)
}

// sourceFailure turns a failed read of a copy's source into S3's answer: what a
// GET answers with 304 is a failed precondition here.
func sourceFailure(err error) error {
	if errors.Is(err, objectstore.ErrNotModified) {
		return s3err.PreconditionFailed.Wrap(err)
	}
	return err
}

// directive reads a directive's header: COPY, the default, or REPLACE.
func (q *request) directive(kind string) (replace bool, err error) {
	switch q.header("X-Amz-" + kind + "-Directive") {
	case "", "COPY":
		return false, nil
	case "REPLACE":
		return true, nil
	default:
		return false, s3err.DirectiveUnknown.New(strings.ToLower(kind))
	}
}

// object serves CopyObject.
func (x copies) object() error {
	if err := x.refuseUnsupported(); err != nil {
		return err
	}
	var asked checksum.Algorithm
	if name := x.header("X-Amz-Checksum-Algorithm"); name != "" {
		var ok bool
		if asked, ok = checksum.Parse(name); !ok {
			return s3err.ChecksumUnsupported.New()
		}
	}
	replace, err := x.directive("Metadata")
	if err != nil {
		return err
	}
	replaceTags, err := x.directive("Tagging")
	if err != nil {
		return err
	}
	mode, version, err := x.putCondition()
	if err != nil {
		return err
	}
	attributes, err := x.givenAttributes()
	if err != nil {
		return err
	}
	tags, err := x.headerTags()
	if err != nil {
		return err
	}
	from, path, o, err := x.source()
	if err != nil {
		return err
	}
	if from == x.bucket && path == x.path && !replace && !replaceTags && asked == "" && attributes.Metadata[reservedClass] == "" && attributes.Metadata[reservedRedirect] == "" {
		return s3err.CopyOntoItself.New()
	}
	c := copying{from: from, path: path, get: o, attributes: attributes, replace: replace, replaceTags: replaceTags, asked: asked}
	c.put = objectstore.PutOptions{Mode: mode, UpdateVersion: version, Tags: tags, Extensions: x.extensions()}
	if err := x.run(c); err != nil {
		return x.writeError(err, mode)
	}
	result, err := x.stat()
	if err != nil {
		return err
	}
	if result.Meta.Version != "" {
		x.w.Header().Set("X-Amz-Version-Id", result.Meta.Version)
	}
	d := document.CopyObjectResult{ETag: document.ETag(result.Meta.ETag), LastModified: document.Time(result.Meta.LastModified)}
	if c, value, ok := storedChecksum(result.Attributes); ok {
		d.Checksum = checksumOf(c, value)
	}
	return x.writeDocument(http.StatusOK, d)
}

// copying is a copy to be made.
type copying struct {
	from        *bucket
	path        objectstore.Path
	get         *objectstore.GetOptions
	put         objectstore.PutOptions
	attributes  objectstore.Attributes
	replace     bool // take attributes, not those of the source
	replaceTags bool
	asked       checksum.Algorithm // to be computed, unless the source has it
}

// plain reports whether a Store's own Copy does everything that was asked for.
func (c copying) plain(to *bucket, conditions conditions) bool {
	return c.asked == "" && c.from == to && c.put.Mode != objectstore.Update && c.get.Version == "" &&
		!c.replaceTags && conditions.none()
}

// run has the Store copy where it can. Otherwise the bytes go through here:
// from one read under the conditions into one write.
func (x copies) run(c copying) error {
	ctx := x.r.Context()
	if c.plain(x.bucket, sourceConditions(x.header)) {
		o := &objectstore.CopyOptions{Mode: c.put.Mode, Extensions: c.put.Extensions}
		if c.replace {
			result, err := c.from.store.Get(ctx, c.path, &objectstore.GetOptions{Head: true, Extensions: c.get.Extensions})
			if err != nil {
				return err
			}
			reserve(&c.attributes, reservedChecksum, result.Attributes.Metadata[reservedChecksum])
			o.Attributes = &c.attributes
		}
		err := x.bucket.store.Copy(ctx, c.path, x.path, o)
		if !errors.Is(err, objectstore.ErrUnsupported) {
			return err
		}
	}
	sum, err := x.computeSum(c)
	if err != nil {
		return err
	}
	result, err := c.from.store.Get(ctx, c.path, c.get)
	if err != nil {
		return sourceFailure(err)
	}
	defer result.Body.Close()
	if sum.value != "" {
		result.Attributes = result.Attributes.WithMetadata(map[string]string{reservedChecksum: sum.text()})
	}
	c.put.Attributes = withoutRedirect(result.Attributes)
	if c.replace {
		reserve(&c.attributes, reservedChecksum, result.Attributes.Metadata[reservedChecksum])
		c.put.Attributes = c.attributes
	}
	if !c.replaceTags {
		// A Store without tags has none to copy.
		if c.put.Tags, err = x.tagsOf(c.from, c.path); err != nil && !errors.Is(err, objectstore.ErrUnsupported) {
			return err
		}
	}
	_, err = x.bucket.store.Put(ctx, x.path, bodyOf(result.Body, result.Meta.Size), &c.put)
	return err
}

// computeSum reads the source to compute a checksum that was asked for and that
// it lacks. What is read for the copy must then be the same, which c makes sure
// of.
func (x copies) computeSum(c copying) (sum objectSum, err error) {
	if c.asked == "" {
		return sum, nil
	}
	result, err := c.from.store.Get(x.r.Context(), c.path, c.get)
	if err != nil {
		return sum, sourceFailure(err)
	}
	defer result.Body.Close()
	if known, value, ok := storedChecksum(result.Attributes); ok && known == c.asked && kindOf(value) == fullObject {
		return sum, nil
	}
	h := c.asked.New()
	if _, err := io.Copy(h, result.Body); err != nil {
		return sum, err
	}
	*c.get = objectstore.GetOptions{IfMatch: result.Meta.ETag, Version: c.get.Version, Extensions: c.get.Extensions}
	return objectSum{c.asked, base64.StdEncoding.EncodeToString(h.Sum(nil))}, nil
}

// bodyOf makes what is read from one Store the body of a write to another, one
// that the write can repeat where the source can be read again.
func bodyOf(r io.Reader, size int64) objectstore.Body {
	if at, ok := r.(io.ReaderAt); ok {
		if _, isFile := r.(objectstore.FileBody); !isFile {
			return objectstore.ReaderAt(at, size)
		}
	}
	return objectstore.Stream(r, size)
}

// part serves UploadPartCopy.
func (x copies) part() error {
	id, number, err := x.partParameters()
	if err != nil {
		return err
	}
	from, path, o, err := x.source()
	if err != nil {
		return err
	}
	ctx := x.r.Context()
	// The range must lie within the object, unlike that of a GET.
	header := x.header("X-Amz-Copy-Source-Range")
	if header != "" {
		if o.Range = parseRange(header); o.Range == nil || strings.HasPrefix(header, "bytes=-") || strings.HasSuffix(header, "-") {
			return copyRangeFailure(s3err.CopyRangeForm)
		}
	}
	result, err := from.store.Get(ctx, path, o)
	switch {
	case errors.Is(err, objectstore.ErrInvalidRange):
		return x.beyond(from, path, o, err)
	case err != nil:
		return sourceFailure(err)
	}
	defer result.Body.Close()
	if header != "" && objectstore.Bounded(result.Start, result.End).String() != header {
		return x.beyond(from, path, o, nil)
	}
	body, sum := bodyOf(result.Body, result.End-result.Start), hash.Hash(nil)
	upload := completedUpload{x.bucket, x.path, id}
	algorithm, _ := x.h.sums.wanted(upload)
	if algorithm != "" {
		sum = algorithm.New()
		body = objectstore.Stream(io.TeeReader(result.Body, sum), result.End-result.Start)
	}
	part, err := x.bucket.uploads.UploadPart(ctx, x.path, id, number, body)
	if err != nil {
		return err
	}
	if part.LastModified.IsZero() {
		part.LastModified = x.options.Clock().Truncate(time.Second)
	}
	d := document.CopyPartResult{LastModified: document.Time(part.LastModified), ETag: document.ETag(part.ETag)}
	if sum != nil {
		part := partSum{etag: part.ETag, checksum: algorithm, sum: sum.Sum(nil)}
		x.h.sums.add(upload, number, part)
		d.Value = document.NewElement(algorithm.Element(), part.value())
	}
	return x.writeDocument(http.StatusOK, d)
}

// beyond makes the failure of a range that is not within the source.
func (x copies) beyond(from *bucket, path objectstore.Path, o *objectstore.GetOptions, err error) error {
	result, headErr := from.store.Get(x.r.Context(), path, &objectstore.GetOptions{Head: true, Version: o.Version, Extensions: o.Extensions})
	if headErr != nil {
		return headErr
	}
	return s3err.CopyRangeBeyond.Wrap(err, result.Meta.Size).With("ArgumentName", "x-amz-copy-source-range")
}

func copyRangeFailure(row s3err.Row) *Failure {
	return row.New().With("ArgumentName", "x-amz-copy-source-range")
}

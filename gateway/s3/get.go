package s3

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// getOptions reads the options of a Store's Get from the request.
func (q *request) getOptions() (*objectstore.GetOptions, error) {
	o := &objectstore.GetOptions{Extensions: q.extensions(), Range: parseRange(q.r.Header.Get("Range"))}
	if version := q.query.Get("versionId"); version != "" && version != "null" {
		o.Version = version
	}
	return o, readConditions(q.r.Header).apply(o)
}

// objects are the reads and writes of single objects.
type objects struct{ *exchange }

// get serves GetObject.
func (x objects) get() error { return x.read(false) }

// head serves HeadObject.
func (x objects) head() error { return x.read(true) }

func (x objects) read(head bool) error {
	o, err := x.getOptions()
	if err != nil {
		return err
	}
	overrides, err := x.overrides()
	if err != nil {
		return err
	}
	part, err := x.partNumber(o)
	if err != nil {
		return err
	}
	ranged := o.Range
	if o.Head = head; head {
		o.Range = nil // resolved here: not every Store does for a Head
	}
	result, err := x.bucket.store.Get(x.r.Context(), x.path, o)
	if err == nil && result.Body != nil && ranged != nil && !x.ifRange(result.Meta) {
		ranged, o.Range = nil, nil
		_ = result.Body.Close()
		result, err = x.bucket.store.Get(x.r.Context(), x.path, o)
	}
	if err != nil {
		return x.readFailure(err, o)
	}
	if result.Body != nil {
		defer result.Body.Close()
	}
	start, end := result.Start, result.End
	if head {
		if ranged != nil && !x.ifRange(result.Meta) {
			ranged = nil
		}
		if start, end, err = ranged.Resolve(result.Meta.Size); err != nil {
			return x.invalidRange(err, result.Meta.Size)
		}
	}
	h := x.w.Header()
	setObjectHeaders(h, result.Meta, result.Attributes)
	for name, value := range overrides {
		h.Set(name, value)
	}
	values := [...]string{"bytes", strconv.FormatInt(end-start, 10), ""}
	h["Accept-Ranges"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	if strings.EqualFold(x.header("X-Amz-Checksum-Mode"), "ENABLED") && end-start == result.Meta.Size {
		if c, value, ok := storedChecksum(result.Attributes); ok {
			h.Set(c.Header(), value)
			h.Set("X-Amz-Checksum-Type", kindOf(value))
		}
	}
	status := http.StatusOK
	if (ranged != nil || part) && result.Meta.Size > 0 {
		status = http.StatusPartialContent
		values[2] = contentRange(start, end, result.Meta.Size)
		h["Content-Range"] = values[2:3:3]
	}
	x.writeStatus(status)
	if head {
		return nil
	}
	if err := x.send(result.Body, end-start); err != nil {
		return fmt.Errorf("object %q: %w", x.path, err)
	}
	return nil
}

// contentRange returns the header of that name.
func contentRange(start, end, size int64) string {
	b := append(make([]byte, 0, 48), "bytes "...)
	b = append(strconv.AppendInt(b, start, 10), '-')
	b = append(strconv.AppendInt(b, end-1, 10), '/')
	return string(strconv.AppendInt(b, size, 10))
}

// partNumber reads the parameter of that name and asks for the bytes of that part.
// An object whose parts are not known has one.
func (x objects) partNumber(o *objectstore.GetOptions) (bool, error) {
	if !x.query.Has("partNumber") {
		return false, nil
	}
	number, err := strconv.Atoi(x.query.Get("partNumber"))
	switch {
	case err != nil || number < 1 || number > objectstore.MaxParts:
		return false, invalidPartNumber()
	case x.r.Header.Get("Range") != "":
		return false, s3err.PartNumberWithRange.New()
	}
	result, err := x.bucket.store.Get(x.r.Context(), x.path, &objectstore.GetOptions{Head: true, Version: o.Version, Extensions: o.Extensions})
	if err != nil {
		return false, x.readFailure(err, o)
	}
	text := result.Attributes.Metadata[reservedParts]
	start, end, count, ok := partRange(text, number)
	switch {
	case ok && end <= result.Meta.Size:
		x.w.Header().Set("X-Amz-Mp-Parts-Count", strconv.Itoa(count))
		if end > start {
			o.Range = objectstore.Bounded(start, end)
		}
		if o.IfMatch == "" {
			o.IfMatch = result.Meta.ETag // the parts are this object's
		}
	case text == "" && number == 1:
	default:
		return false, s3err.PartNumberOutside.New()
	}
	return true, nil
}

func invalidPartNumber() *Failure {
	return s3err.PartNumberInvalid.New(objectstore.MaxParts)
}

// ifRange reports whether a range applies: it does unless If-Range names
// another state of the object.
func (q *request) ifRange(meta objectstore.ObjectMeta) bool {
	value := q.r.Header.Get("If-Range")
	if value == "" {
		return true
	}
	if t, err := http.ParseTime(value); err == nil {
		return meta.LastModified.Unix() == t.Unix()
	}
	tags := parseETags(value, false)
	return len(tags) == 1 && tags[0] == meta.ETag
}

// readFailure turns a failed Get into S3's answer.
func (x objects) readFailure(err error, o *objectstore.GetOptions) error {
	switch {
	case errors.Is(err, objectstore.ErrInvalidRange):
		size := int64(-1)
		if result, headErr := x.stat(); headErr == nil {
			size = result.Meta.Size
		}
		return x.invalidRange(err, size)
	case errors.Is(err, objectstore.ErrNotModified):
		// The answer must carry what a cache keeps.
		if result, headErr := x.stat(); headErr == nil {
			setObjectHeaders(x.w.Header(), result.Meta, result.Attributes)
			x.w.Header().Del("Content-Type")
		}
	case errors.Is(err, objectstore.ErrNotFound) && o.Version != "":
		return s3err.NoSuchVersion.Wrap(err)
	}
	return err
}

func (x objects) invalidRange(err error, size int64) error {
	failure := s3err.InvalidRange.Wrap(err).With("RangeRequested", x.r.Header.Get("Range"))
	if size >= 0 {
		failure = failure.With("ActualObjectSize", strconv.FormatInt(size, 10))
		x.w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", size))
	}
	return failure
}

// overrides reads the response- parameters, by the header that each sets. Only
// requests with a key may use them: otherwise a link to an open object could
// serve anything.
func (q *request) overrides() (map[string]string, error) {
	var overrides map[string]string
	for _, p := range q.query {
		name, ok := strings.CutPrefix(p.Key, "response-")
		if !ok {
			continue
		}
		switch name {
		case "content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding":
		default:
			continue
		}
		if q.identity.AccessKey == "" {
			return nil, s3err.OverridesAnonymous.New()
		}
		if overrides == nil {
			overrides = make(map[string]string)
		}
		overrides[name] = p.Value
	}
	return overrides, nil
}

// attributes serves GetObjectAttributes.
func (x objects) attributes() error {
	wanted := make(map[string]bool)
	for _, value := range x.r.Header.Values("X-Amz-Object-Attributes") {
		for name := range strings.SplitSeq(value, ",") {
			name = strings.TrimSpace(name)
			switch name {
			case "":
			case "ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize":
				wanted[name] = true
			default:
				return s3err.AttributeInvalid.New()
			}
		}
	}
	if len(wanted) == 0 {
		return s3err.AttributesMissing.New()
	}
	result, err := x.stat()
	if err != nil {
		return err
	}
	var d document.GetObjectAttributesResponse
	if wanted["ETag"] {
		d.ETag = result.Meta.ETag
	}
	if c, value, ok := storedChecksum(result.Attributes); ok && wanted["Checksum"] {
		sum := checksumOf(c, value)
		d.Checksum = &sum
	}
	if wanted["StorageClass"] {
		d.StorageClass = storageClass(result.Attributes)
	}
	if wanted["ObjectSize"] {
		d.ObjectSize = &result.Meta.Size
	}
	x.w.Header().Set("Last-Modified", result.Meta.LastModified.UTC().Format(http.TimeFormat))
	return x.writeDocument(http.StatusOK, d)
}

package s3

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// multiparts are uploads in parts.
type multiparts struct{ *exchange }

// create serves CreateMultipartUpload.
func (x multiparts) create() error {
	if err := x.refuseUnsupported(); err != nil {
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
	algorithm, kind, err := x.uploadChecksum()
	if err != nil {
		return err
	}
	id, err := x.bucket.uploads.CreateMultipart(x.r.Context(), x.path, &objectstore.MultipartOptions{
		Attributes: attributes, Tags: tags, Extensions: x.extensions(),
	})
	if err != nil {
		return err
	}
	x.h.sums.begin(completedUpload{x.bucket, x.path, id}, algorithm, kind)
	if algorithm != "" {
		x.w.Header().Set("X-Amz-Checksum-Algorithm", string(algorithm))
		x.w.Header().Set("X-Amz-Checksum-Type", kind)
	}
	return x.writeDocument(http.StatusOK, document.InitiateMultipartUploadResult{Bucket: x.bucketName, Key: x.key, UploadID: id})
}

// uploadChecksum reads which checksum the parts will come with.
func (q *request) uploadChecksum() (c checksum.Algorithm, kind string, err error) {
	name, kind := q.header("X-Amz-Checksum-Algorithm"), strings.ToUpper(q.header("X-Amz-Checksum-Type"))
	if kind != "" && kind != fullObject && kind != composite {
		return "", "", s3err.ChecksumHeaderInvalid.New("x-amz-checksum-type")
	}
	if name == "" {
		if kind != "" {
			return "", "", s3err.ChecksumTypeAlone.New()
		}
		return "", "", nil
	}
	c, ok := checksum.Parse(name)
	if !ok {
		return "", "", s3err.ChecksumUnsupported.New()
	}
	combines := c == checksum.CRC32 || c == checksum.CRC32C || c == checksum.CRC64NVME
	switch {
	case kind == "" && c == checksum.CRC64NVME:
		kind = fullObject
	case kind == "":
		kind = composite
	case kind == fullObject && !combines, kind == composite && c == checksum.CRC64NVME:
		return "", "", s3err.ChecksumTypeUnfit.New(kind, strings.ToLower(string(c)))
	}
	return c, kind, nil
}

// partParameters reads what names a part.
func (q *request) partParameters() (id string, number int, err error) {
	id = q.query.Get("uploadId")
	if id == "" {
		return "", 0, s3err.UploadIDMissing.New()
	}
	number, err = strconv.Atoi(q.query.Get("partNumber"))
	if err != nil || number < 1 || number > objectstore.MaxParts {
		return "", 0, invalidPartNumber()
	}
	return id, number, nil
}

// part serves UploadPart.
func (x multiparts) part() error {
	id, number, err := x.partParameters()
	if err != nil {
		return err
	}
	p, err := x.openPayload(x.options.MaxPutSize)
	if err != nil {
		return err
	}
	upload := completedUpload{x.bucket, x.path, id}
	sum := p.Declared().Algorithm
	switch wanted, kind := x.h.sums.wanted(upload); {
	case wanted == "":
	case sum == "" && kind == composite:
		return s3err.ChecksumTypeMismatch.New(wanted, "null")
	case sum == "":
		p.Compute(wanted)
		sum = wanted
	case sum != wanted:
		return s3err.ChecksumTypeMismatch.New(wanted, sum)
	}
	body, release, err := x.body(p)
	if err != nil {
		return err
	}
	defer release()
	part, err := x.bucket.uploads.UploadPart(x.r.Context(), x.path, id, number, body)
	if err != nil {
		return err
	}
	x.setWritten(&objectstore.PutResult{ETag: part.ETag}, checksum.Declared{})
	if sum != "" {
		known := partSum{etag: part.ETag, checksum: sum, sum: p.Checksum()}
		x.h.sums.add(upload, number, known)
		x.w.Header().Set(sum.Header(), known.value())
	}
	x.writeEmpty()
	return nil
}

// complete serves CompleteMultipartUpload.
func (x multiparts) complete() error {
	mode, version, err := x.putCondition()
	if err != nil {
		return err
	}
	body, err := x.document()
	if err != nil {
		return err
	}
	id := x.query.Get("uploadId")
	done := completedUpload{x.bucket, x.path, id}
	result := x.h.completed.get(done)
	var sum objectSum
	if result == nil {
		promised, err := x.promisedSum()
		if err != nil {
			return err
		}
		parts, err := x.checkParts(id, body)
		if err != nil {
			return err
		}
		if sum, err = x.checkWhole(done, body, parts, promised); err != nil {
			return err
		}
		result, err = x.bucket.uploads.CompleteMultipart(x.r.Context(), x.path, id, parts, &objectstore.CompleteOptions{
			Mode: mode, UpdateVersion: version, Extensions: x.extensions(), Metadata: sum.metadata(parts),
		})
		if err != nil {
			return x.writeError(err, mode)
		}
		x.h.completed.add(done, result)
		x.h.sums.end(done)
	}
	if result.Version != "" {
		x.w.Header().Set("X-Amz-Version-Id", result.Version)
	}
	d := document.CompleteMultipartUploadResult{
		Location: x.location(), Bucket: x.bucketName, Key: x.key, ETag: document.ETag(result.ETag),
	}
	if sum.value != "" {
		d.Checksum = checksumOf(sum.checksum, sum.value)
	}
	return x.writeDocument(http.StatusOK, d)
}

// namedPart is a part as a completion names it.
type namedPart struct {
	objectstore.Part
	checksum checksum.Algorithm // "" when the client names none
	value    string
}

// document reads the parts that a completion names.
func (x multiparts) document() ([]namedPart, error) {
	var parts []namedPart
	err := x.readDocument("CompleteMultipartUpload", false, func(c xmlChild) error {
		if c.name() != "Part" {
			return c.skip()
		}
		var item struct {
			PartNumber, ETag string
			Others           []struct {
				XMLName xml.Name
				Value   string `xml:",chardata"`
			} `xml:",any"`
		}
		if err := c.decode(&item); err != nil {
			return err
		}
		number, err := strconv.Atoi(strings.TrimSpace(item.PartNumber))
		if err != nil {
			return err
		}
		if number < 1 || number > objectstore.MaxParts {
			return s3err.PartNumberTooSmall.New()
		}
		if n := len(parts); n > 0 && parts[n-1].Number >= number {
			return s3err.InvalidPartOrder.New()
		}
		tags := parseETags(item.ETag, false)
		if len(tags) != 1 {
			return errors.New("a Part without ETag")
		}
		part := namedPart{Part: objectstore.Part{Number: number, ETag: tags[0]}}
		for _, other := range item.Others {
			name, ok := strings.CutPrefix(other.XMLName.Local, "Checksum")
			c, known := checksum.Parse(name)
			if value := strings.TrimSpace(other.Value); ok && known && value != "" {
				if _, valid := c.Decode(value); !valid || part.checksum != "" {
					return s3err.PartChecksumInvalid.New().Argument("Checksum", value)
				}
				part.checksum, part.value = c, value
			}
		}
		parts = append(parts, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		return nil, malformedXML(errors.New("no parts"))
	}
	return parts, nil
}

// checkParts compares the parts that the client names with those uploaded, and
// returns them with their sizes.
func (x multiparts) checkParts(id string, named []namedPart) ([]objectstore.Part, error) {
	parts := make([]objectstore.Part, len(named))
	for i := range named {
		parts[i] = named[i].Part
	}
	uploaded := make(map[int]objectstore.Part)
	for part, err := range x.bucket.uploads.ListParts(x.r.Context(), x.path, id) {
		if err != nil {
			return nil, err
		}
		uploaded[part.Number] = part
	}
	var total int64
	for i := range parts {
		part, ok := uploaded[parts[i].Number]
		if !ok || part.ETag != parts[i].ETag {
			return nil, s3err.InvalidPart.New().With("UploadId", id).With("PartNumber", strconv.Itoa(parts[i].Number)).With("ETag", parts[i].ETag)
		}
		if i < len(parts)-1 && part.Size < x.options.MinPartSize {
			return nil, s3err.EntityTooSmall.New().
				With("ProposedSize", strconv.FormatInt(part.Size, 10)).With("PartNumber", strconv.Itoa(part.Number)).
				With("MinSizeAllowed", strconv.FormatInt(x.options.MinPartSize, 10)).With("ETag", part.ETag)
		}
		parts[i] = part
		total += part.Size
	}
	if value := x.header("X-Amz-Mp-Object-Size"); value != "" {
		size, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
			return nil, s3err.ObjectSizeInvalid.New()
		case size < 0:
			return nil, s3err.ObjectSizeNegative.New(size)
		case size != total:
			return nil, s3err.ObjectSizeMismatch.New(total, size)
		}
	}
	return parts, nil
}

// checkInitiated compares the time at which an upload was begun with the header of
// that name; one in the future means nothing.
func (x multiparts) checkInitiated() error {
	want, ok := parseHTTPTime(x.header("X-Amz-If-Match-Initiated-Time"))
	if !ok || want.After(x.options.Clock()) {
		return nil
	}
	for upload, err := range x.bucket.uploads.ListMultiparts(x.r.Context(), x.key) {
		switch {
		case err != nil:
			return err
		case upload.Path == x.path && upload.ID == x.query.Get("uploadId") && upload.Initiated.Unix() != want.Unix():
			return s3err.PreconditionFailed.New()
		}
	}
	return nil
}

// abort serves AbortMultipartUpload.
func (x multiparts) abort() error {
	if err := x.checkInitiated(); err != nil {
		return err
	}
	if err := x.bucket.uploads.AbortMultipart(x.r.Context(), x.path, x.query.Get("uploadId")); err != nil {
		return err
	}
	x.h.sums.end(completedUpload{x.bucket, x.path, x.query.Get("uploadId")})
	x.writeStatus(http.StatusNoContent)
	return nil
}

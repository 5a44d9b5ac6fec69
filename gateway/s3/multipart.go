package s3

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stardustdb/stardust/objectstore"
)

// createUpload serves CreateMultipartUpload.
func (x *exchange) createUpload() error {
	if err := x.refuseUnsupported(); err != nil {
		return err
	}
	attributes, err := x.attributes()
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
	d := newDocument("InitiateMultipartUploadResult", namespace)
	d.text("Bucket", x.bucketName)
	d.text("Key", x.key)
	d.text("UploadId", id)
	x.writeDocument(http.StatusOK, d)
	return nil
}

// uploadChecksum reads which checksum the parts will come with.
func (x *exchange) uploadChecksum() (c checksum, kind string, err error) {
	name, kind := x.header("X-Amz-Checksum-Algorithm"), x.header("X-Amz-Checksum-Type")
	if name == "" {
		if kind != "" {
			return "", "", fail("InvalidRequest", "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.")
		}
		return "", "", nil
	}
	c, ok := parseChecksum(name)
	if !ok {
		return "", "", fail("InvalidRequest", "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]")
	}
	whole := c == "CRC32" || c == "CRC32C" || c == "CRC64NVME"
	switch {
	case kind == "" && c == "CRC64NVME":
		kind = "FULL_OBJECT"
	case kind == "":
		kind = "COMPOSITE"
	case kind != "FULL_OBJECT" && kind != "COMPOSITE":
		return "", "", fail("InvalidRequest", "Value for x-amz-checksum-type header is invalid.")
	case kind == "FULL_OBJECT" && !whole, kind == "COMPOSITE" && c == "CRC64NVME":
		return "", "", fail("InvalidRequest", "The %s checksum type cannot be used with the %s checksum algorithm.", kind, name)
	}
	return c, kind, nil
}

// partParameters reads what names a part.
func (x *exchange) partParameters() (id string, number int, err error) {
	id = x.query.get("uploadId")
	if id == "" {
		return "", 0, fail("InvalidArgument", "This operation does not accept a query-string without uploadId.")
	}
	number, err = strconv.Atoi(x.query.get("partNumber"))
	if err != nil || number < 1 || number > objectstore.MaxParts {
		return "", 0, invalidPartNumber()
	}
	return id, number, nil
}

// uploadPart serves UploadPart.
func (x *exchange) uploadPart() error {
	id, number, err := x.partParameters()
	if err != nil {
		return err
	}
	p, err := x.openPayload(x.h.options.MaxPutSize)
	if err != nil {
		return err
	}
	upload := completedUpload{x.bucket, x.path, id}
	sum := p.declared.checksum
	switch wanted := x.h.sums.wanted(upload); {
	case wanted == "":
	case sum == "":
		p.compute(wanted)
		sum = wanted
	case sum != wanted:
		return fail("InvalidRequest", "Checksum Type mismatch occurred, expected checksum Type: %s, actual checksum Type: %s", wanted, sum)
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
	x.setWritten(&objectstore.PutResult{ETag: part.ETag}, p)
	if sum != "" {
		known := partSum{etag: part.ETag, checksum: sum, sum: p.additional()}
		x.h.sums.add(upload, number, known)
		x.w.Header().Set(sum.header(), known.value())
	}
	x.w.Header().Del("X-Amz-Checksum-Type")
	x.w.Header().Del("X-Amz-Object-Size")
	x.writeStatus(http.StatusOK)
	return nil
}

// completeUpload serves CompleteMultipartUpload.
func (x *exchange) completeUpload() error {
	mode, version, err := x.putCondition()
	if err != nil {
		return err
	}
	body, err := x.completeDocument()
	if err != nil {
		return err
	}
	id := x.query.get("uploadId")
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
	d := newDocument("CompleteMultipartUploadResult", namespace)
	d.text("Location", x.location())
	d.text("Bucket", x.bucketName)
	d.text("Key", x.key)
	d.etag(result.ETag)
	if sum.value != "" {
		d.text(sum.checksum.element(), sum.value)
		d.text("ChecksumType", kindOf(sum.value))
	}
	x.writeDocument(http.StatusOK, d)
	return nil
}

// location returns the URL of the object.
func (x *exchange) location() string {
	scheme := "http"
	if x.r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + x.r.Host + escape(x.r.URL.Path, true)
}

// namedPart is a part as a completion names it.
type namedPart struct {
	objectstore.Part
	checksum checksum // "" when the client names none
	value    string
}

func (x *exchange) completeDocument() ([]namedPart, error) {
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
			return fail("InvalidArgument", "PartNumber must be >= 1")
		}
		if n := len(parts); n > 0 && parts[n-1].Number >= number {
			return fail("InvalidPartOrder", "The list of parts was not in ascending order. Parts must be ordered by part number.")
		}
		tags := parseETags(item.ETag, false)
		if len(tags) != 1 {
			return errors.New("a Part without ETag")
		}
		part := namedPart{Part: objectstore.Part{Number: number, ETag: tags[0]}}
		for _, other := range item.Others {
			name, ok := strings.CutPrefix(other.XMLName.Local, "Checksum")
			c, known := parseChecksum(name)
			if value := strings.TrimSpace(other.Value); ok && known && value != "" {
				if _, valid := c.decode(value); !valid || part.checksum != "" {
					return fail("InvalidArgument", "The checksum of part %d is invalid, or not the only one.", number)
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
func (x *exchange) checkParts(id string, named []namedPart) ([]objectstore.Part, error) {
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
			failure := fail("InvalidPart", invalidPartMessage)
			failure.Fields = map[string]string{"UploadId": id, "PartNumber": strconv.Itoa(parts[i].Number), "ETag": parts[i].ETag}
			return nil, failure
		}
		if i < len(parts)-1 && part.Size < x.h.options.MinPartSize {
			failure := fail("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
			failure.Fields = map[string]string{
				"ProposedSize": strconv.FormatInt(part.Size, 10), "PartNumber": strconv.Itoa(part.Number),
				"MinSizeAllowed": strconv.FormatInt(x.h.options.MinPartSize, 10), "ETag": part.ETag,
			}
			return nil, failure
		}
		parts[i] = part
		total += part.Size
	}
	if value := x.header("X-Amz-Mp-Object-Size"); value != "" {
		size, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
			return nil, fail("InvalidRequest", "Value for x-amz-mp-object-size header is invalid.")
		case size < 0:
			return nil, fail("InvalidRequest", "Value for x-amz-mp-object-size header is less than zero: '%d'", size)
		case size != total:
			return nil, fail("InvalidRequest", "The provided 'x-amz-mp-object-size' header value %d does not match what was computed: %d", size, total)
		}
	}
	return parts, nil
}

// abortUpload serves AbortMultipartUpload.
func (x *exchange) abortUpload() error {
	if err := x.bucket.uploads.AbortMultipart(x.r.Context(), x.path, x.query.get("uploadId")); err != nil {
		return err
	}
	x.h.sums.end(completedUpload{x.bucket, x.path, x.query.get("uploadId")})
	x.writeStatus(http.StatusNoContent)
	return nil
}

package s3

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// listParts serves ListParts.
func (x *exchange) listParts() error {
	id := x.query.Get("uploadId")
	limit, err := x.limit("max-parts")
	if err != nil {
		return err
	}
	marker := 0
	if value := x.query.Get("part-number-marker"); value != "" {
		if marker, err = strconv.Atoi(value); err != nil || marker < 0 {
			return s3err.LimitInvalid.New("part-number-marker").Argument("part-number-marker", value)
		}
	}
	var parts []objectstore.Part
	truncated := false
	for part, err := range x.bucket.uploads.ListParts(x.r.Context(), x.path, id) {
		if err != nil {
			return err
		}
		if part.Number <= marker {
			continue
		}
		if truncated = len(parts) == limit; truncated {
			break
		}
		parts = append(parts, part)
	}
	encode, err := x.encoder()
	if err != nil {
		return err
	}
	d := newDocument("ListPartsResult", namespace)
	d.text("Bucket", x.bucketName)
	d.text("Key", encode(x.key))
	d.text("UploadId", id)
	d.user("Initiator", x.owner())
	d.user("Owner", x.owner())
	d.text("StorageClass", defaultStorageClass)
	d.number("PartNumberMarker", int64(marker))
	if n := len(parts); n > 0 {
		marker = parts[n-1].Number
	}
	d.number("NextPartNumberMarker", int64(marker))
	d.number("MaxParts", int64(limit))
	d.flag("IsTruncated", truncated)
	for _, part := range parts {
		d.open("Part")
		d.number("PartNumber", int64(part.Number))
		d.time("LastModified", part.LastModified)
		d.etag(part.ETag)
		d.number("Size", part.Size)
		d.close("Part")
	}
	x.writeDocument(http.StatusOK, d)
	return nil
}

// uploadListing is one page of a list of uploads.
type uploadListing struct {
	listing
	keyMarker, idMarker string

	uploads   []objectstore.MultipartUpload
	prefixes  []string
	truncated bool
	// nextKey and nextID are the markers of the next page.
	nextKey, nextID string
}

// listUploads serves ListMultipartUploads.
func (x *exchange) listUploads() error {
	limit, err := x.limit("max-uploads")
	if err != nil {
		return err
	}
	encode, err := x.encoder()
	if err != nil {
		return err
	}
	l := uploadListing{
		listing:   listing{prefix: x.query.Get("prefix"), delimiter: x.query.Get("delimiter"), limit: limit},
		keyMarker: x.query.Get("key-marker"),
	}
	if l.keyMarker != "" {
		l.idMarker = x.query.Get("upload-id-marker") // without a key it means nothing
	}
	if err := l.collect(x); err != nil {
		return err
	}
	d := newDocument("ListMultipartUploadsResult", namespace)
	d.text("Bucket", x.bucketName)
	d.text("KeyMarker", encode(l.keyMarker))
	d.text("UploadIdMarker", l.idMarker)
	if l.truncated {
		d.text("NextKeyMarker", encode(l.nextKey))
		d.text("NextUploadIdMarker", l.nextID)
	}
	d.text("Prefix", encode(l.prefix))
	d.optional("Delimiter", encode(l.delimiter))
	if encoding := x.query.Get("encoding-type"); encoding != "" {
		d.text("EncodingType", encoding)
	}
	d.number("MaxUploads", int64(limit))
	d.flag("IsTruncated", l.truncated)
	for _, upload := range l.uploads {
		d.open("Upload")
		d.text("Key", encode(string(upload.Path)))
		d.text("UploadId", upload.ID)
		d.user("Initiator", x.owner())
		d.user("Owner", x.owner())
		d.text("StorageClass", defaultStorageClass)
		d.time("Initiated", upload.Initiated)
		d.close("Upload")
	}
	for _, prefix := range l.prefixes {
		d.open("CommonPrefixes")
		d.text("Prefix", encode(prefix))
		d.close("CommonPrefixes")
	}
	x.writeDocument(http.StatusOK, d)
	return nil
}

// collect fills the page, in the order of keys and then of time.
func (l *uploadListing) collect(x *exchange) error {
	var same []objectstore.MultipartUpload // of one key
	for upload, err := range x.bucket.uploads.ListMultiparts(x.r.Context(), l.prefix) {
		if err != nil {
			return err
		}
		if len(same) > 0 && same[0].Path != upload.Path {
			if l.add(same); l.truncated {
				return nil
			}
			same = same[:0]
		}
		same = append(same, upload)
	}
	if len(same) > 0 {
		l.add(same)
	}
	return nil
}

// add adds the uploads of one key to the page, as far as they fit.
func (l *uploadListing) add(same []objectstore.MultipartUpload) {
	key := string(same[0].Path)
	if key < l.keyMarker || (key == l.keyMarker && l.idMarker == "") {
		return
	}
	if prefix := l.commonPrefix(key); prefix != "" {
		if prefix <= l.keyMarker || slices.Contains(l.prefixes[max(0, len(l.prefixes)-1):], prefix) {
			return
		}
		if l.full() {
			return
		}
		l.prefixes = append(l.prefixes, prefix)
		l.nextKey, l.nextID = prefix, ""
		return
	}
	slices.SortStableFunc(same, func(a, b objectstore.MultipartUpload) int { return a.Initiated.Compare(b.Initiated) })
	if key == l.keyMarker {
		// Behind the marker; all of the key when its upload has ended.
		i := slices.IndexFunc(same, func(u objectstore.MultipartUpload) bool { return u.ID == l.idMarker })
		same = same[i+1:]
	}
	for _, upload := range same {
		if l.full() {
			return
		}
		l.uploads = append(l.uploads, upload)
		l.nextKey, l.nextID = key, upload.ID
	}
}

func (l *uploadListing) full() bool {
	l.truncated = len(l.uploads)+len(l.prefixes) >= l.limit
	return l.truncated
}

package s3

import (
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/stardustdb/stardust/gateway/s3/internal/document"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

// parts serves ListParts.
func (x lists) parts() error {
	id := x.query.Get("uploadId")
	limit, err := x.limit("max-parts")
	if err != nil {
		return err
	}
	marker := 0
	if value := x.query.Get("part-number-marker"); value != "" {
		if marker, err = strconv.Atoi(value); err != nil || marker < 0 || marker > math.MaxInt32 {
			return s3err.PartMarkerInvalid.New(value).Argument("part-number-marker", value)
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
	owner := document.NewOwner(x.owner())
	d := document.ListParts{
		Bucket: x.bucketName, Key: encode(x.key), UploadID: id, Initiator: owner, Owner: owner,
		StorageClass: defaultStorageClass, PartNumberMarker: marker, NextPartNumberMarker: marker,
		MaxParts: limit, IsTruncated: truncated,
	}
	algorithm, kind, sums := x.h.sums.of(completedUpload{x.bucket, x.path, id})
	d.ChecksumAlgorithm, d.ChecksumType = string(algorithm), kind
	for _, part := range parts {
		d.NextPartNumberMarker = part.Number
		var sum *document.Element
		if known := sums[part.Number]; known.checksum != "" && known.etag == part.ETag {
			sum = document.NewElement(known.checksum.Element(), known.value())
		}
		d.Part = append(d.Part, document.Part{
			PartNumber: part.Number, LastModified: document.Time(part.LastModified),
			ETag: document.ETag(part.ETag), Size: part.Size, Checksum: sum,
		})
	}
	return x.writeDocument(http.StatusOK, d)
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

// uploads serves ListMultipartUploads.
func (x lists) uploads() error {
	parameters, encode, err := x.listParameters("max-uploads")
	if err != nil {
		return err
	}
	l := uploadListing{listing: parameters, keyMarker: x.query.Get("key-marker")}
	if l.keyMarker != "" {
		l.idMarker = x.query.Get("upload-id-marker") // without a key it means nothing
	}
	if err := l.collect(x.exchange); err != nil {
		return err
	}
	d := document.ListUploads{
		Bucket: x.bucketName, KeyMarker: encode(l.keyMarker), UploadIDMarker: l.idMarker,
		Prefix: encode(l.prefix), Delimiter: encode(l.delimiter), EncodingType: x.query.Get("encoding-type"),
		MaxUploads: l.limit, IsTruncated: l.truncated, CommonPrefixes: commonPrefixes(l.prefixes, encode),
	}
	if l.truncated {
		if err := l.checkEnd(l.nextKey); err != nil {
			return err
		}
		d.NextKeyMarker, d.NextUploadIDMarker = encode(l.nextKey), l.nextID
	}
	owner := document.NewOwner(x.owner())
	for _, upload := range l.uploads {
		algorithm, kind := x.h.sums.wanted(completedUpload{x.bucket, upload.Path, upload.ID})
		d.Upload = append(d.Upload, document.Upload{
			ChecksumAlgorithm: string(algorithm), ChecksumType: kind,
			Key: encode(string(upload.Path)), UploadID: upload.ID, Initiator: owner, Owner: owner,
			StorageClass: defaultStorageClass, Initiated: document.Time(upload.Initiated),
		})
	}
	return x.writeDocument(http.StatusOK, d)
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
	l.truncated = l.listing.full(len(l.uploads)+len(l.prefixes), l.nextKey)
	return l.truncated
}

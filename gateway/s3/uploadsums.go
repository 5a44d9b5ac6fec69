package s3

import (
	"encoding/base64"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/stardustdb/stardust/gateway/s3/internal/checksum"
	"github.com/stardustdb/stardust/gateway/s3/s3err"
	"github.com/stardustdb/stardust/objectstore"
)

const (
	fullObject = "FULL_OBJECT"
	composite  = "COMPOSITE"
	// maxKnownUploads and maxKnownParts bound what is remembered of uploads in
	// progress; the oldest are forgotten first.
	maxKnownUploads = 4096
	maxKnownParts   = 200_000
)

// uploadSums remembers the checksums of the parts of uploads in progress, which no
// Store keeps. It may be used concurrently.
type uploadSums struct {
	mu    sync.Mutex
	byID  map[completedUpload]*uploadSum
	order []completedUpload
	parts int
}

// uploadSum is one upload's: the algorithm of its parts' checksums, "" if the
// client did not say, and the kind of checksum of the whole.
type uploadSum struct {
	checksum checksum.Algorithm
	kind     string
	parts    map[int]partSum
}

// partSum is the checksum of the part with that ETag.
type partSum struct {
	etag     string
	checksum checksum.Algorithm
	sum      []byte
}

func (p partSum) value() string { return base64.StdEncoding.EncodeToString(p.sum) }

// begin remembers an upload.
func (u *uploadSums) begin(id completedUpload, c checksum.Algorithm, kind string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byID == nil {
		u.byID = make(map[completedUpload]*uploadSum)
	}
	u.byID[id] = &uploadSum{checksum: c, kind: kind, parts: make(map[int]partSum)}
	u.order = append(u.order, id)
	u.trim()
}

// trim forgets the oldest while there are too many. The lock is held.
func (u *uploadSums) trim() {
	for len(u.order) > 0 && (len(u.byID) > maxKnownUploads || u.parts > maxKnownParts || u.byID[u.order[0]] == nil) {
		oldest := u.order[0]
		u.order = u.order[1:]
		if known := u.byID[oldest]; known != nil {
			u.parts -= len(known.parts)
			delete(u.byID, oldest)
		}
	}
}

// of returns what is known of an upload: its checksum and kind, and its parts.
func (u *uploadSums) of(id completedUpload) (c checksum.Algorithm, kind string, parts map[int]partSum) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := u.byID[id]
	if known == nil {
		return "", "", nil
	}
	parts = make(map[int]partSum, len(known.parts))
	maps.Copy(parts, known.parts)
	return known.checksum, known.kind, parts
}

// wanted returns the checksum that the parts of an upload come with, and of what kind
// that of the whole is.
func (u *uploadSums) wanted(id completedUpload) (c checksum.Algorithm, kind string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.byID[id]; known != nil {
		return known.checksum, known.kind
	}
	return "", ""
}

// add remembers the checksum of a part.
func (u *uploadSums) add(id completedUpload, number int, part partSum) {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := u.byID[id]
	if known == nil {
		return
	}
	if _, again := known.parts[number]; !again {
		u.parts++
	}
	known.parts[number] = part
	u.trim()
}

// end forgets an upload.
func (u *uploadSums) end(id completedUpload) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.byID[id]; known != nil {
		u.parts -= len(known.parts)
		delete(u.byID, id)
	}
	u.trim()
}

// whole returns the checksum of the object that the parts make, in the form of
// a header; false if a part's is unknown, or they can't be combined.
func whole(c checksum.Algorithm, kind string, parts []objectstore.Part, sums map[int]partSum) (string, bool) {
	all, sizes := make([][]byte, len(parts)), make([]int64, len(parts))
	for i, part := range parts {
		known, ok := sums[part.Number]
		if !ok || known.checksum != c || known.etag != part.ETag {
			return "", false
		}
		all[i], sizes[i] = known.sum, part.Size
	}
	if kind == fullObject {
		sum, ok := c.Combine(all, sizes)
		return base64.StdEncoding.EncodeToString(sum), ok
	}
	h := c.New()
	for _, sum := range all {
		h.Write(sum)
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil)) + "-" + strconv.Itoa(len(parts)), true
}

// kindOf returns of what kind a checksum is, by its value.
func kindOf(value string) string {
	if strings.Contains(value, "-") {
		return composite
	}
	return fullObject
}

// sizesText writes down the sizes of the parts, equal ones together: "3*5242880,17".
// It is "" when that would be long.
func sizesText(parts []objectstore.Part) string {
	var b strings.Builder
	for i := 0; i < len(parts); {
		n := 1
		for i+n < len(parts) && parts[i+n].Size == parts[i].Size {
			n++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if n > 1 {
			b.WriteString(strconv.Itoa(n) + "*")
		}
		b.WriteString(strconv.FormatInt(parts[i].Size, 10))
		if i += n; b.Len() > maxSizesText {
			return ""
		}
	}
	return b.String()
}

// maxSizesText bounds what an object's metadata has of its parts, in bytes.
const maxSizesText = 2 << 10

// partRange returns the range of a part by what sizesText wrote, and how many parts
// there are; false when it says nothing of that part.
func partRange(text string, number int) (start, end int64, count int, ok bool) {
	var at int64
	for item := range strings.SplitSeq(text, ",") {
		n, size := int64(1), item
		if times, each, many := strings.Cut(item, "*"); many {
			n, _ = parseDigits(times)
			size = each
		}
		bytes, valid := parseDigits(size)
		if !valid || n < 1 || n > objectstore.MaxParts {
			return 0, 0, 0, false
		}
		if number > count && int64(number) <= int64(count)+n {
			start = at + int64(number-count-1)*bytes
			end, ok = start+bytes, true
		}
		count += int(n)
		at += n * bytes
	}
	return start, end, count, ok
}

// objectSum is the checksum of an object that was uploaded in parts; the zero value
// says that there is none.
type objectSum struct {
	checksum checksum.Algorithm
	value    string
}

// text is how a checksum is kept with an object; storedChecksum reads it.
func (s objectSum) text() string { return string(s.checksum) + " " + s.value }

// metadata is what is kept with the object.
func (s objectSum) metadata(parts []objectstore.Part) map[string]string {
	kept := make(map[string]string, 2)
	if s.value != "" {
		kept[reservedChecksum] = s.text()
	}
	if sizes := sizesText(parts); sizes != "" {
		kept[reservedParts] = sizes
	}
	return kept
}

// checkWhole compares the checksums that a completion names, of parts and of the
// whole, with those of what was uploaded. What can't be compared, since this
// endpoint was started after the parts were uploaded or they came without that
// checksum, is refused: the client asked for the comparison.
func (x multiparts) checkWhole(id completedUpload, named []namedPart, parts []objectstore.Part, promised objectSum) (sum objectSum, err error) {
	c, kind, sums := x.h.sums.of(id)
	for _, part := range named {
		known, ok := sums[part.Number]
		switch {
		case part.checksum == "" && c != "" && kind == composite:
			return sum, s3err.PartChecksumMissing.New(strings.ToLower(string(c)), part.Number)
		case part.checksum == "":
		case c != "" && part.checksum != c:
			return sum, s3err.PartChecksumMismatch.New(strings.ToLower(string(part.checksum)), part.Number)
		case ok && (known.checksum != part.checksum || known.value() != part.value):
			return sum, s3err.InvalidPart.New().With("UploadId", id.id).With("PartNumber", strconv.Itoa(part.Number)).With("ETag", part.ETag)
		}
	}
	if given := strings.ToUpper(x.header("X-Amz-Checksum-Type")); given != "" {
		switch {
		case given != fullObject && given != composite:
			return sum, s3err.ChecksumHeaderInvalid.New("x-amz-checksum-type")
		case c != "" && given != kind:
			return sum, s3err.ChecksumModeMismatch.New(kind)
		}
	}
	digest, count, counted := strings.Cut(promised.value, "-")
	if composed, ok := whole(c, kind, parts, sums); ok && kind == composite && !counted && promised.checksum == c && composed == digest+"-"+strconv.Itoa(len(parts)) {
		// minio-go leaves the number of parts out.
		promised.value, counted, count = composed, true, strconv.Itoa(len(parts))
	}
	switch {
	case promised.value == "":
	case promised.checksum == c && kindOf(promised.value) != kind:
		return sum, s3err.ChecksumMismatch.New(c)
	case counted && count != strconv.Itoa(len(parts)):
		return sum, s3err.ChecksumHeaderInvalid.New(promised.checksum.Header())
	case c != "" && promised.checksum != c:
		return sum, s3err.ChecksumTypeMismatch.New(c, promised.checksum)
	default:
		c, kind = promised.checksum, kindOf(promised.value)
	}
	if c == "" {
		return sum, nil
	}
	value, ok := whole(c, kind, parts, sums)
	switch {
	case promised.value != "" && !ok:
		return sum, s3err.ChecksumUnverifiable.New(c, c)
	case promised.value != "" && value != promised.value:
		return sum, s3err.ChecksumMismatch.New(c)
	case !ok:
		return sum, nil
	}
	return objectSum{c, value}, nil
}

// promisedSum reads the checksum of the whole object from a completion's headers.
func (q *request) promisedSum() (sum objectSum, err error) {
	for _, c := range checksum.Algorithms() {
		value, ok := q.lookup(c.Header())
		if !ok {
			continue
		}
		if sum.value != "" {
			return sum, s3err.ChecksumTwice.New()
		}
		digest, _, _ := strings.Cut(value, "-")
		if _, ok := c.Decode(digest); !ok {
			return sum, s3err.ChecksumHeaderInvalid.New(c.Header())
		}
		sum = objectSum{c, value}
	}
	return sum, nil
}

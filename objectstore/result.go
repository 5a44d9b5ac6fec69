package objectstore

import (
	"cmp"
	"io"
	"maps"
	"os"
	"strings"
	"time"
)

// Attributes describe an object's content. They are stored with it and come
// back with it. User metadata keys are lower case.
type Attributes struct {
	ContentType        string            `json:"content_type,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	CacheControl       string            `json:"cache_control,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

// Clone returns a copy that shares no memory with a, its metadata keys in lower
// case.
func (a Attributes) Clone() Attributes {
	if a.Metadata == nil {
		return a
	}
	metadata := make(map[string]string, len(a.Metadata))
	for key, value := range a.Metadata {
		metadata[strings.ToLower(key)] = value
	}
	a.Metadata = metadata
	return a
}

// WithMetadata returns a copy to whose metadata more was added.
func (a Attributes) WithMetadata(more map[string]string) Attributes {
	if len(more) == 0 {
		return a
	}
	metadata := maps.Clone(a.Metadata)
	if metadata == nil {
		metadata = make(map[string]string, len(more))
	}
	maps.Copy(metadata, more)
	a.Metadata = metadata
	return a
}

// ObjectMeta describes a stored object.
type ObjectMeta struct {
	Path         Path
	Size         int64 // in bytes
	LastModified time.Time
	// ETag is an opaque token, without quotes, that changes when the object
	// does. Empty when the store has none.
	ETag string
	// Version is the version id, empty on stores that keep no versions.
	Version string
}

// GetResult is what Store.Get returns. The caller closes Body.
type GetResult struct {
	Meta       ObjectMeta
	Attributes Attributes
	// Start and End bound the bytes of Body within the object: [Start, End).
	Start, End int64
	// Body yields exactly End-Start bytes, or an error: never fewer and
	// io.EOF. Nil when only the metadata was asked for. It may be a
	// [FileBody].
	Body io.ReadCloser
}

// A FileBody is a Body that comes from a local file, so that a server can have
// the kernel send it (sendfile).
type FileBody interface {
	io.ReadCloser
	// File returns the open file, whose offset stands at the first byte of
	// the body. The file belongs to the body alone until Close: no other
	// reader moves its offset. Read at most End-Start bytes from it.
	File() *os.File
}

// PutResult is what a write returns.
type PutResult struct {
	ETag    string
	Version string
}

// ListResult is what Store.ListWithDelimiter returns.
type ListResult struct {
	Objects []ObjectMeta
	// CommonPrefixes end in "/" and are sorted.
	CommonPrefixes []string
}

// Part names an uploaded part of a multipart upload.
type Part struct {
	Number int
	ETag   string
	Size   int64 // zero when unknown
	// LastModified is when the part was uploaded; set by ListParts only.
	LastModified time.Time
}

// MultipartUpload describes an upload in progress.
type MultipartUpload struct {
	Path      Path
	ID        string
	Initiated time.Time
}

// Compare orders uploads as [MultipartStore].ListMultiparts yields them: by path,
// then by time, then by id.
func (u MultipartUpload) Compare(v MultipartUpload) int {
	return cmp.Or(cmp.Compare(u.Path, v.Path), u.Initiated.Compare(v.Initiated), cmp.Compare(u.ID, v.ID))
}

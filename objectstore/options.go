package objectstore

import "time"

// GetOptions are the options of Store.Get. A nil pointer means the zero value:
// the whole object, no conditions.
type GetOptions struct {
	// Range selects the bytes to return; nil means all.
	Range *Range
	// IfMatch returns ErrPrecondition unless the object's ETag is this, or
	// one of a comma-separated list, or it is "*" and the object exists.
	IfMatch string
	// IfNoneMatch returns ErrNotModified when the object's ETag is this, or
	// one of a comma-separated list, or it is "*" and the object exists.
	IfNoneMatch string
	// IfModifiedSince returns ErrNotModified when the object was last
	// modified at or before this time. IfNoneMatch takes precedence.
	IfModifiedSince time.Time
	// IfUnmodifiedSince returns ErrPrecondition when the object was last
	// modified after this time. IfMatch takes precedence.
	IfUnmodifiedSince time.Time
	// Version selects a version, on stores that keep versions.
	Version string
	// Head asks for the metadata only: the result has no Body.
	Head bool
	// Extensions carry values of other layers.
	Extensions Extensions
}

// PutMode says what a write does when the object exists already.
type PutMode int

const (
	// Overwrite replaces whatever is there.
	Overwrite PutMode = iota
	// Create writes only when nothing is there (If-None-Match: *).
	Create
	// Update writes only over the version given (If-Match).
	Update
)

// UpdateVersion names the version that an Update expects to replace.
type UpdateVersion struct {
	ETag    string
	Version string
}

// PutOptions are the options of Store.Put. A nil pointer means the zero value:
// overwrite, no attributes.
type PutOptions struct {
	Mode PutMode
	// UpdateVersion is the version to replace; Mode Update requires it.
	UpdateVersion UpdateVersion
	Attributes    Attributes
	// Tags are the object's tags, on stores that have them.
	Tags       map[string]string
	Extensions Extensions
}

// MultipartOptions are the options of Store.PutMultipart. The conditions hold
// when the upload completes.
type MultipartOptions struct {
	Mode          PutMode
	UpdateVersion UpdateVersion
	Attributes    Attributes
	Tags          map[string]string
	Extensions    Extensions
}

// CompleteOptions are the options of MultipartStore.CompleteMultipart.
type CompleteOptions struct {
	Mode          PutMode
	UpdateVersion UpdateVersion
	Extensions    Extensions
	// Metadata is added to that of the upload's Attributes. A remote service that
	// takes attributes only at the start ignores it.
	Metadata map[string]string
}

// CopyOptions are the options of Store.Copy and Store.Rename. A nil pointer
// means overwrite. Mode Update is not supported.
type CopyOptions struct {
	Mode PutMode
	// Attributes replace those of the source when not nil.
	Attributes *Attributes
	Extensions Extensions
}

// ListOptions are the options of the list calls. A nil pointer means all.
type ListOptions struct {
	// Prefix is a plain string prefix of the paths to list.
	Prefix string
	// Offset lists only paths that sort after it; empty means from the start.
	Offset     string
	Extensions Extensions
}

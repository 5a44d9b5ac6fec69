package objectstore

import (
	"context"
	"iter"
)

// A Store keeps objects under paths. Every method may be called concurrently
// with every other, and returns an [*Error] when it fails.
//
// A Store is strongly consistent: what a returned write stored, a later read
// or list sees. A conditional write succeeds for at most one of several racing
// callers.
type Store interface {
	// Get reads an object, a range of it, or with options.Head only its
	// metadata. The caller closes the result's Body when there is one.
	//
	// It returns ErrNotFound when there is no object at path, ErrPrecondition
	// or ErrNotModified when a condition of the options says so, and
	// ErrInvalidRange when a range begins beyond the object's end.
	Get(ctx context.Context, path Path, options *GetOptions) (*GetResult, error)

	// Put writes an object whole. Readers see the old object or the new one
	// and nothing between; a failed Put leaves the old one. The Store reads
	// body to its end but does not keep it after Put returns.
	//
	// It returns ErrAlreadyExists when options.Mode is Create and the object
	// exists, and ErrPrecondition when the mode is Update and the object is
	// another version, or missing.
	Put(ctx context.Context, path Path, body Body, options *PutOptions) (*PutResult, error)

	// PutMultipart starts a multipart upload. Nothing is visible at path
	// until Complete. Either Complete or Abort must be called.
	PutMultipart(ctx context.Context, path Path, options *MultipartOptions) (Upload, error)

	// Delete removes an object. It returns ErrNotFound when the Store knows
	// that there was none; a Store that cannot know (S3) returns nil.
	Delete(ctx context.Context, path Path) error

	// List yields the objects whose path begins with the prefix, in
	// ascending order of their bytes. The prefix is a plain string prefix:
	// "a/b" matches "a/bc" and "a/b/c". A yielded error ends the list.
	List(ctx context.Context, options *ListOptions) iter.Seq2[ObjectMeta, error]

	// ListWithDelimiter lists one level: the objects directly under the
	// prefix and the common prefixes (each ending in "/") of those below.
	ListWithDelimiter(ctx context.Context, options *ListOptions) (*ListResult, error)

	// Copy copies an object within the Store, with its attributes.
	// It returns ErrNotFound when from is missing, and ErrAlreadyExists when
	// options.Mode is Create and to exists.
	Copy(ctx context.Context, from, to Path, options *CopyOptions) error

	// Rename moves an object within the Store. It is atomic only where the
	// driver says so; otherwise it is a Copy and a Delete.
	Rename(ctx context.Context, from, to Path, options *CopyOptions) error

	// String names the store for people and logs, without secrets.
	String() string
}

// An Upload is a multipart upload in progress. Its methods may be called
// concurrently, but Complete and Abort only once all PutParts have returned.
type Upload interface {
	// PutPart uploads the part with a number from 1 to 10000. Parts come in
	// any order; the object is their concatenation by number. A number sent
	// twice keeps the later part. All parts but the last must have the
	// Store's minimum size (S3: 5 MiB) when the Store has one.
	PutPart(ctx context.Context, number int, body Body) error

	// Complete publishes the object under the conditions of the options
	// given at the start. On an error nothing is published unless the error
	// says otherwise, and Abort may still be called.
	Complete(ctx context.Context) (*PutResult, error)

	// Abort gives the upload up and frees its parts.
	Abort(ctx context.Context) error
}

// MultipartStore is an optional interface of a Store whose multipart uploads
// have names, so that they outlive the value (and, on durable stores, the
// process) that began them. An HTTP gateway needs it.
type MultipartStore interface {
	Store

	// CreateMultipart starts an upload and returns its id.
	CreateMultipart(ctx context.Context, path Path, options *MultipartOptions) (id string, err error)

	// UploadPart uploads one part and returns what CompleteMultipart needs.
	// It returns ErrUploadNotFound for an unknown id.
	UploadPart(ctx context.Context, path Path, id string, number int, body Body) (Part, error)

	// CompleteMultipart publishes the concatenation of the given parts, which
	// ascend by number. It returns ErrInvalidPart when a part is unknown or
	// its ETag differs from the one uploaded. The options carry the
	// conditions; nil means overwrite.
	CompleteMultipart(ctx context.Context, path Path, id string, parts []Part, options *CompleteOptions) (*PutResult, error)

	// AbortMultipart frees the upload's parts.
	AbortMultipart(ctx context.Context, path Path, id string) error

	// ListParts yields the parts uploaded so far, ascending by number.
	ListParts(ctx context.Context, path Path, id string) iter.Seq2[Part, error]

	// ListMultiparts yields the uploads in progress whose path begins with
	// the prefix, ordered by path, then by start.
	ListMultiparts(ctx context.Context, prefix string) iter.Seq2[MultipartUpload, error]
}

// BulkDeleter is an optional interface of a Store that deletes many objects in
// fewer calls than one each. Use [DeleteAll], which works on every Store.
type BulkDeleter interface {
	// DeleteAll deletes the paths and yields each with its own error or nil.
	// A missing object is not an error. It stops early when the consumer does.
	DeleteAll(ctx context.Context, paths iter.Seq[Path]) iter.Seq2[Path, error]
}

// TagReader is an optional interface of a Store that keeps the tags which
// writes carry.
type TagReader interface {
	// Tags returns an object's tags, empty when it has none. It returns
	// ErrNotFound when there is no object at path.
	Tags(ctx context.Context, path Path) (map[string]string, error)
}

// VersionLister is an optional interface of a Store that keeps the versions of its
// objects, which GetOptions.Version reads.
type VersionLister interface {
	// Versions yields the versions of the object at path, the latest first. It
	// yields ErrNotFound when there is no object at path.
	Versions(ctx context.Context, path Path) iter.Seq2[ObjectMeta, error]
}

// ConditionalDeleter is an optional interface of a Store that deletes an object
// only while it is the one that the caller knows.
type ConditionalDeleter interface {
	// DeleteMatching deletes the object if its ETag is etag, or is one of a
	// comma-separated list, or etag is "*". It returns ErrPrecondition when the
	// object is another, and ErrNotFound when there is none.
	DeleteMatching(ctx context.Context, path Path, etag string) error
}

package transfer

import (
	"context"
	"io"
	"io/fs"
)

// Target is the database that an import fills. Its methods may be called
// concurrently, but Commit is called by one goroutine.
type Target interface {
	// CheckName returns why a name cannot be in the tree, or nil.
	CheckName(name string) error
	// Store reads a file to its end and stores the bytes, which nothing names
	// yet. It returns a *SourceError for an error of the reader; any other
	// error ends the import.
	Store(ctx context.Context, from io.Reader) (Content, error)
	// Commit publishes the items' content and names it, all in one commit, in
	// the order given: a directory comes before what is in it. It sets Outcome,
	// Err and the entities of directories that it made or found. An error
	// means that nothing of the batch is in the database; either way it has
	// taken the content over.
	Commit(ctx context.Context, items []*Item) error
	// Owns reports whether a file is the database itself, or one of those that
	// stand beside it while it is open.
	Owns(info fs.FileInfo) bool
}

// Content is the stored bytes of a file that nothing names yet.
type Content interface {
	// Size is the number of bytes.
	Size() int64
	// Abandon frees them, unless they were given to Commit.
	Abandon()
}

// SourceError is an error of a file that is being read, not of the database.
type SourceError struct{ Err error }

func (s *SourceError) Error() string { return s.Err.Error() }

// Unwrap returns the file's own error.
func (s *SourceError) Unwrap() error { return s.Err }

// Item is one file or directory on its way into the tree.
type Item struct {
	Parent  *Directory
	Name    string
	Made    *Directory // of a directory; nil for a file
	Content Content    // of a file
	// Attributes is what the file system knows of it besides, as the value of
	// the attribute attributes.NameFile; nil when it knows nothing.
	Attributes []byte

	// Outcome and Err are what Commit made of it. An item with an Err was
	// refused, and the others of its batch were not.
	Outcome Outcome
	Err     error

	path string // where it lies in the source
	link bool   // it is a symbolic link
}

// Directory is a directory of the tree. Only Commit uses it: the walk does not
// wait until it is made.
type Directory struct {
	Entity int64
	Failed bool // it could not be made, so nothing can be in it
}

package transfer

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/digest"
)

// Target is the database that an import fills. Its methods may be called
// concurrently, but Commit and Remove are called by one goroutine.
type Target interface {
	// State returns the state of the database at a revision, or the present one
	// when that is negative.
	State(revision int64) (State, error)
	// CheckName returns why a name cannot be in the tree, or nil.
	CheckName(name string) error
	// Children yields what is in a directory of the tree now.
	Children(ctx context.Context, directory int64) iter.Seq2[Child, error]
	// Child returns what a directory has under a name, and whether it has.
	Child(ctx context.Context, directory int64, name string) (Child, bool, error)
	// Attributes returns the value of the attribute attributes.NameFile of a node;
	// empty when it has none.
	Attributes(ctx context.Context, entity int64) ([]byte, error)
	// Store reads a file to its end and stores the bytes, which nothing names
	// yet. It returns a *SourceError for an error of the reader; any other
	// error ends the import.
	Store(ctx context.Context, from io.Reader) (Content, error)
	// Published returns content that is published already.
	Published(d digest.Digest, size int64) Content
	// Commit publishes the items' content and names it, all in one commit, in
	// the order given: a directory comes before what is in it. It sets what
	// Item says that it sets. An error means that nothing of the batch is in
	// the database; either way it has taken the content over.
	//
	// Gone, when not nil, tells of a path beneath the import's directory whether
	// the source has nothing there any more: a new file with the content of
	// such a one is moved from there, rather than made. Nodes are removed as by
	// Remove, after it.
	Commit(ctx context.Context, items []*Item, gone func(path string) bool, nodes []Gone) error
	// Remove removes nodes, those in a directory before it, all in one commit,
	// and sets what Gone says that it sets.
	Remove(ctx context.Context, nodes []Gone) error
	// Say writes a message about the import, in a commit of its own.
	Say(ctx context.Context, message string) error
	// Owns reports whether a file is the database itself, or one of those that
	// stand beside it while it is open.
	Owns(info fs.FileInfo) bool
}

// State is a state of a database.
type State struct {
	Identity string // of the database
	Last     int64  // the last revision
	Record   string // digest of that transaction's record; empty when there is none
	// Exact says, of the present state, that all revisions since the import
	// began are its own; of an earlier one, that the tree is as it was then.
	Exact bool
}

// Child is a node in a directory of the tree.
type Child struct {
	Name             string
	Entity, Revision int64
	File             bool
	Size             int64         // of a file, in bytes
	Digest           digest.Digest // of a file
}

// Gone is a node to remove.
type Gone struct {
	Entity int64
	// Parent and Name are where it is expected; a node that is elsewhere by now
	// stays.
	Parent int64
	Name   string
	File   bool

	// Removed and Err are what Remove made of it. A node with an Err was
	// refused, and the others were not.
	Removed bool
	Err     error
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
	// Speaks are the members that Attributes speaks for: of a node that is there,
	// it takes away those that it does not name.
	Speaks attributes.Members
	// Replace lets it take the place of a file, or of an empty directory, when
	// it is of the other kind.
	Replace bool

	// What Commit makes of it: the node, its revision, and where a moved one
	// came from. Blocked is the entity of a directory in its place that is not
	// empty. An item with an Err was refused, and the others of its batch were
	// not.
	Entity, Revision int64
	Outcome          Outcome
	MovedFrom        string
	Blocked          int64
	Err              error

	path     string // where it lies in the source
	stat     stat
	holes    bool      // it had some
	late     bool      // it waited for another name of the file
	looked   time.Time // when it was so
	inTheWay int64     // what blocked it
	again    bool      // it was blocked before
	aside    bool      // it is no file of its own, and not reported
}

// Directory is a directory of the tree. Only Commit uses it: the walk does not
// wait until it is made.
type Directory struct {
	Entity int64
	Failed bool // it could not be made, so nothing can be in it
	// Unreal says that it is only planned, by an import that changes nothing.
	Unreal bool
}

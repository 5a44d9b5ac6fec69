package transfer

import (
	"context"
	"io"
	"io/fs"
	"iter"

	"github.com/stardustdb/stardust/internal/attributes"
	"github.com/stardustdb/stardust/internal/digest"
)

// Source is the database that an export reads, as it was at one revision. Its
// methods may be called concurrently.
type Source interface {
	// Walk yields a node and everything beneath it, a directory before what is
	// in it.
	Walk(entity int64) iter.Seq2[Node, error]
	// Names yields the names in a directory.
	Names(ctx context.Context, directory int64) iter.Seq2[string, error]
	// Owns reports whether a file is the database itself.
	Owns(info fs.FileInfo) bool
	// WriteContent writes a file's content, verified. It returns a *EndError for
	// what ends the export; any other error is the file's own.
	WriteContent(n *Node, to io.Writer) error
}

// Node is a file or directory of the tree.
type Node struct {
	// Path leads to it from where the walk began, names divided by "/"; empty
	// for the beginning itself.
	Path   string
	Entity int64
	Name   string
	File   bool
	Size   int64         // of a file, in bytes
	Digest digest.Digest // of a file
	// Attributes is what is kept of it besides.
	Attributes attributes.File
}

// EndError is an error that ends a transfer, because no other file could do
// better.
type EndError struct{ Err error }

func (e *EndError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *EndError) Unwrap() error { return e.Err }

// LostError is an error of one node of the tree, or of a directory that lacks
// some, because what is stored is damaged. An export goes on behind it.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *LostError) Unwrap() error { return e.Err }

package stardust

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/payload"
	"github.com/stardustdb/stardust/internal/transfer"
)

// ExportOptions are the options of [Tree.Export]. A nil pointer means the zero
// value.
type ExportOptions struct {
	// Workers is how many files are handled at once, at most 256 and one for every
	// 16 MiB of the memory budget; zero means one per processor.
	Workers int
	// Progress, if not nil, is called whenever it changed, one call at a time.
	Progress func(Progress)
	// Problem, if not nil, is called for everything that is left out, one call at
	// a time.
	Problem func(Problem)
	// Replace overwrites files that have other content.
	Replace bool
	// Change, if not nil, is called for everything that is not as it was, one call
	// at a time.
	Change func(TransferChange)
	// Delete makes the directory equal to the tree: local files and directories
	// that the tree does not have are removed at the end, and those of another
	// kind give way. It implies Replace. The database itself stays if it lies
	// there.
	Delete bool
	// Exclude are patterns in the form of gitignore, the last one that matches
	// deciding, for what is neither exported nor removed.
	Exclude []string
	// DeleteExcluded removes, too, what Exclude matches. It means Delete.
	DeleteExcluded bool
	// DryRun changes nothing and reports what the export would do.
	DryRun bool
	// Sparse makes holes of zeros in every file, not only in files that had some
	// by their attributes.
	Sparse bool
	// Preserve selects what is restored of files besides: of those that the export
	// writes, and with Replace of those, too, that have their content already.
	Preserve Preserve
}

// Export copies a file or directory of the tree, with everything beneath it, to
// a directory of the operating system, which is made when it is missing. A
// directory's children land in it; a file lands in it under its own name. It
// writes files in parallel, each under a temporary name first, so that a file
// is there whole or not at all; temporary files of an export that was killed
// are removed. Run again, it takes up where it stopped: files that have the
// content already are left alone; files with other content are reported, or
// overwritten if ExportOptions.Replace is set, and then keep their permissions.
// Symbolic links become links again; with Replace, a link in the way of a file
// or directory is removed.
//
// Nothing is ever written outside the directory, whatever names and symbolic
// links there are. What the target can't hold, and payloads that are damaged,
// are reported in TransferReport.Problems, and the export goes on. The error
// says what ended it: StatusCanceled when ctx ends, StatusNotFound for a
// missing entity, StatusIO when the directory can't be used. The report is
// valid then too.
func (v Tree) Export(ctx context.Context, entity int64, to string, options *ExportOptions) (*TransferReport, error) {
	const op = "objects.export"
	var o ExportOptions
	if options != nil {
		o = *options
	}
	rules, err := newRules(o.Exclude)
	if err == nil {
		err = v.enabled()
	}
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	report := new(transfer.Report)
	pinned, err := v.WithContext(inner).pin()
	if err == nil && entity != catalog.Root {
		_, err = pinned.Get(entity) // before anything is made
	}
	common := transferOptions(v.db.payloads.Uploads(), o.Workers, o.Progress, o.Problem)
	common.DryRun, common.Change = o.DryRun, changeCallback(o.Change)
	if err == nil {
		report, err = transfer.Export(inner, exportSource{pinned}, entity, to, transfer.ExportOptions{
			Options: common, Replace: o.Replace, Delete: o.Delete, Sparse: o.Sparse,
			Exclude: rules, DeleteExcluded: o.DeleteExcluded,
			Preserve: transfer.Preserve(o.Preserve),
		})
		report.Revision = pinned.at
	}
	return newTransferReport(report), withOp(op, end(err))
}

// exportSource is what an export reads: the tree at one revision.
type exportSource struct{ tree Tree }

func (s exportSource) Walk(entity int64) iter.Seq2[transfer.Node, error] {
	return func(yield func(transfer.Node, error) bool) {
		for entry, err := range s.tree.Walk(entity) {
			r := &entry.Record
			node := transfer.Node{
				Path: entry.Path, Entity: r.Entity, Name: r.Name,
				File: r.Kind == KindFile, Size: r.Size, Digest: r.Digest,
			}
			if err == nil {
				node.Attributes, err = s.tree.fileAttributes(r.Entity)
			}
			if errors.Is(err, StatusEvaluationFailed) || payload.IsDamage(err) {
				err = &transfer.LostError{Err: err}
			}
			if !yield(node, err) {
				return
			}
		}
	}
}

// Names yields the names in a directory.
func (s exportSource) Names(ctx context.Context, directory int64) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for r, err := range s.tree.WithContext(ctx).Children(directory) {
			if !yield(r.Name, err) {
				return
			}
		}
	}
}

// Owns reports whether a file is the database itself.
func (s exportSource) Owns(info fs.FileInfo) bool { return s.tree.db.Owns(info) }

func (s exportSource) WriteContent(n *transfer.Node, to io.Writer) error {
	stream, err := s.tree.Open(n.Digest)
	if err == nil {
		_, err = stream.WriteTo(to)
		_ = stream.Close() // always nil
	}
	if errors.Is(err, StatusClosed) {
		err = &transfer.EndError{Err: err}
	}
	return err
}

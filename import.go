package stardust

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/stardustdb/stardust/internal/transfer"
	"github.com/stardustdb/stardust/internal/tree"
)

// ImportOptions are the options of [Tree.Import]. A nil pointer means the zero
// value.
type ImportOptions struct {
	// Workers is how many files are handled at once, at most 256 and one for every
	// 16 MiB of the memory budget; zero means one per processor.
	Workers int
	// Progress, if not nil, is called whenever it changed, one call at a time.
	Progress func(Progress)
	// Problem, if not nil, is called for everything that is left out, one call at
	// a time.
	Problem func(Problem)
	// Change, if not nil, is called for everything that changed, one call at a
	// time.
	Change func(TransferChange)

	// Delete makes the directory of the tree equal to the file system. What the
	// file system no longer has is removed at the end, except what could not be
	// read or listed. A new file with the content of one that is gone is moved
	// instead of made; a file that became a directory, or the other way round, is
	// replaced.
	Delete bool
	// Exclude are gitignore patterns for what is neither imported nor removed. The
	// last one that matches decides.
	Exclude []string
	// DeleteExcluded removes from the tree, too, what Exclude matches. It means
	// Delete.
	DeleteExcluded bool
	// Only, if not nil, are paths of names divided by "/", "." for all: what does
	// not lie at one of them or beneath it is left alone, as is IndexDir. Nothing
	// lies at a path when what was there is gone.
	Only []string
	// SkipCaches leaves out what is in directories with a CACHEDIR.TAG.
	SkipCaches bool
	// OneFileSystem leaves out what is in directories on another file system than
	// the top's, where the operating system can tell.
	OneFileSystem bool

	// IndexDir is a directory, made if missing, for a file that remembers what the
	// import saw, so that the next one need not read files with unchanged size,
	// times and inode. The file is ignored if it is damaged or belongs to another
	// database, another history of it, or another source. Empty means none; so far
	// it is used on Linux only.
	IndexDir string
	// Source names what is imported for the index, such as by the absolute path of
	// a directory.
	Source string
	// ReadAll also reads files that are unchanged according to the index.
	ReadAll bool

	// Preserve selects what is kept of files besides. What an import does not keep,
	// it leaves in the tree as it is.
	Preserve Preserve

	// Message, if not empty, describes the import's last revision: a commit of its
	// own, which is made even if nothing changed.
	Message string

	// DryRun changes nothing, reads what the import would read, and reports what
	// it would do. It works on databases that are open for reading only.
	DryRun bool
}

// Import copies a file system's files and directories into a directory of the
// tree. It reads files in parallel, and many share one commit. Run again, it
// takes up where it stopped: content is not stored twice, files that have it
// already keep their revision, and files that differ get the new content.
//
// What can't be read, or has a name that the tree can't hold, is reported in
// TransferReport.Problems, and the import goes on; so are special files, what
// an interrupted export left behind, and the database itself, under whatever
// name it lies there. Symbolic links are never followed: where the file system
// can read them (fs.ReadLinkFS) they are kept as docs/attributes.md says,
// otherwise skipped and reported. A file that changes while it is read is read
// again, up to three times; if it changed each time, it is stored as it was
// last read and also counts as failed.
//
// The error says what ended an import: StatusCanceled when ctx ends, StatusIO
// with CodeNoSpace for a full disk, StatusConflict when writes are held,
// StatusOutOfMemory when the memory budget has no room for a worker's upload,
// StatusInvalidArgument when the target is not a directory and StatusNotFound
// when it does not exist, StatusClosed. The report is valid then too, and what
// was committed stays.
func (v Tree) Import(ctx context.Context, from fs.FS, into int64, options *ImportOptions) (*TransferReport, error) {
	const op = "objects.import"
	var o ImportOptions
	if options != nil {
		o = *options
	}
	rules, err := newRules(o.Exclude)
	if err == nil {
		err = checkMessage(o.Message)
	}
	if err == nil {
		err = v.WithContext(ctx).checkTarget(into, o.DryRun)
	}
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	target := &importTarget{db: v.db, into: into, dry: o.DryRun, own: v.db.file.ownFiles()}
	common := transferOptions(v.db.payloads.Uploads(), o.Workers, o.Progress, o.Problem)
	common.DryRun, common.Change = o.DryRun, changeCallback(o.Change)
	report, err := transfer.Import(inner, target, from, into, transfer.ImportOptions{
		Options: common,
		Delete:  o.Delete, Exclude: rules, DeleteExcluded: o.DeleteExcluded, SkipCaches: o.SkipCaches, OneDevice: o.OneFileSystem,
		Index: v.indexPath(&o, into), Source: o.Source, ReadAll: o.ReadAll, Now: v.db.options.Now,
		Message: o.Message, Only: o.Only, Preserve: transfer.Preserve(o.Preserve),
	})
	return newTransferReport(report), withOp(op, end(err))
}

// indexPath returns the path of the index for a source and a target.
func (v Tree) indexPath(o *ImportOptions, into int64) string {
	if o.IndexDir == "" || o.Only != nil {
		return ""
	}
	which := sha256.Sum256(fmt.Appendf(nil, "%d %s", into, o.Source))
	return filepath.Join(o.IndexDir, fmt.Sprintf("%s-%x.index", v.db.file.identity(), which[:8]))
}

// newRules reads patterns in the form of gitignore.
func newRules(patterns []string) (*transfer.Rules, error) {
	rules := new(transfer.Rules)
	for i, pattern := range patterns {
		if err := rules.Add(pattern); err != nil {
			return nil, invalid("Exclude[%d]: %v", i, err)
		}
	}
	return rules, nil
}

func (v Tree) checkTarget(into int64, dry bool) error {
	err := v.writable()
	if dry {
		err = v.enabled()
	}
	if err != nil {
		return err
	}
	if into == 0 {
		return nil
	}
	r, err := v.Get(into)
	if err == nil && r.Kind != KindDirectory {
		err = invalid("entity %d: is the file %s, not a directory", into, tree.Quote(r.Name))
	}
	return err
}

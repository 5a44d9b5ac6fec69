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
	// Workers is how many files are handled at the same time, at most 256 and
	// one for every 16 MiB of the memory budget; zero means one for each
	// processor.
	Workers int
	// Progress, when not nil, is called after every step that changed it, one
	// call at a time.
	Progress func(Progress)
	// Problem, when not nil, is called for everything that is left out, one
	// call at a time.
	Problem func(Problem)
	// Change, when not nil, is called for everything that is not as it was, one
	// call at a time.
	Change func(TransferChange)

	// Delete makes the directory of the tree hold what the file system holds and
	// nothing else. What the file system no longer has is removed at the end,
	// but for what could not be read or listed. A new file with the content of
	// one that is gone is moved, rather than made; what became a directory or
	// stopped being one takes the other's place.
	Delete bool
	// Exclude are patterns in the form of gitignore, the last one that matches
	// deciding, for what is neither imported nor removed.
	Exclude []string
	// SkipCaches leaves out what is in directories with a CACHEDIR.TAG.
	SkipCaches bool
	// OneFileSystem leaves out what is in directories that are on another file
	// system than the top, where the operating system tells.
	OneFileSystem bool

	// IndexDir is a directory, made when it is missing, for a file that keeps what
	// the import saw, so that the next one need not read files whose size, times
	// and inode are as they were. The file is ignored when it is of another
	// database, of another history of it, of another source, or damaged. Empty
	// means none; so far it takes part on Linux only.
	IndexDir string
	// Source names what is imported, such as the absolute path of a directory,
	// for the index.
	Source string
	// ReadAll reads files, too, that did not change by the index.
	ReadAll bool

	// Preserve selects what is kept of files besides. What an import does not keep,
	// it leaves in the tree as it is.
	Preserve Preserve

	// Message, when not empty, is said of the import's last revision: in a commit
	// of its own, which is made also when nothing changed.
	Message string

	// DryRun changes nothing, reads what the import would read, and reports what
	// it would do. It works on databases that are open for reading only.
	DryRun bool
}

// Import copies a file system's files and directories into a directory of the
// tree. It reads files in parallel, and many share one commit. Run again it
// takes up where it stopped: content that is stored already is not stored twice,
// files that have it already keep their revision, and those that differ get the
// new content.
//
// What can't be read, or has a name that the tree can't hold, is reported in
// TransferReport.Problems, and the import goes on; so are special files, what an
// interrupted export left behind, and the database itself, under whatever name it
// lies there. Symbolic links are never followed: where the file system can read
// them (fs.ReadLinkFS) they are kept as docs/attributes.md says, otherwise skipped
// and reported. A file that changes while it is read is read again, up to three times; one that never
// stands still is stored as it was read last, and counts as failed, too.
//
// The error is for what ends an import: StatusCanceled when ctx ends, StatusIO
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
		Delete:  o.Delete, Exclude: rules, SkipCaches: o.SkipCaches, OneDevice: o.OneFileSystem,
		Index: v.indexPath(&o, into), Source: o.Source, ReadAll: o.ReadAll, Now: v.db.options.Now,
		Message: o.Message, Preserve: transfer.Preserve(o.Preserve),
	})
	return newTransferReport(report), withOp(op, end(err))
}

// indexPath returns the path of the index for a source and a target.
func (v Tree) indexPath(o *ImportOptions, into int64) string {
	if o.IndexDir == "" {
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

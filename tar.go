package stardust

import (
	"context"
	"io"

	"github.com/stardustdb/stardust/internal/transfer"
)

// ExportTar writes a file or directory of the tree, with everything beneath it, as
// a tar archive in the PAX form, with the permissions and times that are kept. A
// directory's children are at the top of the archive. A nil preserve writes all else
// that is kept, too: what of it counts is for whoever unpacks the archive to say.
//
// It returns StatusNotFound for a missing entity, StatusCanceled when ctx ends,
// StatusEvaluationFailed when a payload is damaged, and the writer's error as it
// is. After an error the archive is not whole.
func (v Tree) ExportTar(ctx context.Context, entity int64, to io.Writer, preserve *Preserve) error {
	const op = "objects.export"
	if err := v.enabled(); err != nil {
		return withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return withOp(op, err)
	}
	pinned, err := v.WithContext(inner).pin()
	if err == nil {
		err = transfer.WriteTar(inner, exportSource{pinned}, entity, to, preserved(preserve))
	}
	return withOp(op, end(err))
}

// ImportTar copies the files, directories and symbolic links of a tar archive into
// a directory of the tree, as they come, many in a commit. Hard links become files
// of the same content, of which it is kept that they are one; other kinds of entries are skipped and reported, and so are
// names that the tree can't hold or that lead out of the archive. Of the options
// only Progress, Problem, Change and Preserve count; without options everything that
// the archive says is kept.
//
// Errors are those of [Tree.Import], and the reader's own and those of an archive
// that is not whole, as StatusIO. The report is valid then, too, and what came
// before stays.
func (v Tree) ImportTar(ctx context.Context, from io.Reader, into int64, options *ImportOptions) (*TransferReport, error) {
	const op = "objects.import"
	o := ImportOptions{Preserve: PreserveAll()}
	if options != nil {
		o = *options
	}
	if err := v.WithContext(ctx).checkTarget(into, false); err != nil {
		return new(TransferReport), withOp(op, err)
	}
	inner, end, err := v.db.task(ctx)
	if err != nil {
		return new(TransferReport), withOp(op, err)
	}
	target := &importTarget{db: v.db, into: into, own: v.db.file.ownFiles()}
	common := transferOptions(1, 1, o.Progress, o.Problem)
	common.Change = changeCallback(o.Change)
	report, err := transfer.ReadTar(inner, target, from, into, transfer.TarOptions{Options: common, Preserve: transfer.Preserve(o.Preserve)})
	return newTransferReport(report), withOp(op, end(err))
}

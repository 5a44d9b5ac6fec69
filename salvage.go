package stardust

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/stardustdb/stardust/internal/container"
	"github.com/stardustdb/stardust/internal/heap"
	"github.com/stardustdb/stardust/internal/salvage"
)

// SalvageOptions are the options of [Salvage]. A nil pointer means the zero value.
type SalvageOptions struct {
	// Progress, if not nil, is called now and then, one call at a time.
	Progress func(SalvageProgress)
	// Logger, if not nil, gets what an operator may want to know.
	Logger *slog.Logger
}

// SalvageProgress tells how far a salvage has come: first Read of Size bytes of
// the damaged file, then Saved of Total bytes of content.
type SalvageProgress struct {
	Read, Size   int64
	Saved, Total int64
}

// SalvageReport says what the new file has, and what it lacks.
type SalvageReport struct {
	Files, Directories int64
	Payloads           int64
	Bytes              int64 // of content
	Transactions       int64

	// DamagedPages and DamagedChunks are what is damaged in the old file.
	DamagedPages, DamagedChunks int64
	// LogWhole says that every transaction was there: the new file has the exact
	// tree and history, except for the content that is listed as lost.
	LogWhole bool
	// Doubt says why the latest commits may be missing altogether; nil if none
	// are.
	Doubt error
	// LostFiles are files without all of their content. They are left out.
	LostFiles []LostFile
	// Incomplete are payloads that are not whole, whether a file names them or not.
	Incomplete []Digest
	// Unsure are entities whose latest state is not known. They are in the
	// directory lost+found in their last known state.
	Unsure []int64
	// Orphans are payloads, and pieces of incomplete ones, whose names are lost or that
	// never had one. They are in lost+found under their digests.
	Orphans []Digest
}

// LostFile is a file whose content could not be saved.
type LostFile struct {
	Entity int64
	Path   string
	Digest Digest // zero when it is not known either
}

// Lossless reports whether the new file has all that the old one had.
func (r *SalvageReport) Lossless() bool {
	return r.LogWhole && r.Doubt == nil && len(r.LostFiles) == 0 && len(r.Incomplete) == 0
}

// Salvage makes a new database of everything that a damaged file still proves: by
// the checksums of its pages and rows, wherever they are, and the digests of the
// chunks that lie in it. Names, versions and payloads that are not proved are left
// out, and the report lists them; an error means that there is no new file. The
// damaged file, and the log beside it, are only read. It keeps the entities,
// revisions and history that are left, and has an identity of its own.
//
// It takes memory in proportion to the number of files and chunks, a few hundred
// bytes for each. The new file is written beside its path, under the name with
// ".partial" added, and renamed when it is whole.
//
// It returns StatusInvalidArgument with CodeNotDatabase when nothing of a
// database is left in the file, StatusConflict when the new path exists, or with
// CodeInUse when somebody has the file open, StatusIO when the disk fails or is
// full, and StatusCanceled when ctx ends first.
func Salvage(ctx context.Context, from, to string, options *SalvageOptions) (*SalvageReport, error) {
	const op = "salvage"
	s := salvaging{}
	if options != nil {
		s.options = *options
	}
	report, err := s.run(ctx, from, to)
	return report, withOp(op, err)
}

// salvaging is one salvage under way.
type salvaging struct {
	options  SalvageOptions
	progress SalvageProgress
}

func (s *salvaging) run(ctx context.Context, from, to string) (*SalvageReport, error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = conflict("", "%s exists already; a salvage makes a new file", to)
		}
		return nil, err
	}
	wreck, err := container.OpenWreck(from)
	if err != nil {
		return nil, openError(from, err)
	}
	defer wreck.Close()
	found, err := salvage.Read(ctx, wreck, func(done, total int64) {
		s.progress.Read, s.progress.Size = done, total
		s.step()
	})
	if err != nil {
		return nil, err
	}
	if len(found.Log)+len(found.Nodes)+len(found.Payloads)+len(found.Stored) == 0 && found.Doubt != nil {
		return nil, &Error{
			Status: StatusInvalidArgument, Code: CodeNotDatabase,
			Message: from + ": nothing of a Stardust database is left in it",
		}
	}
	old := heap.New(wreck)
	plan, err := salvage.NewPlan(ctx, found, old)
	if err != nil {
		return nil, err
	}
	b := &rebuild{salvaging: s, found: found, plan: plan, old: old}
	for _, p := range plan.Payloads {
		s.progress.Total += p.Size
	}
	if err := writeDraft(ctx, to, s.options.Logger, b.write); err != nil {
		return nil, err
	}
	return newSalvageReport(found, plan), nil
}

func (s *salvaging) step() {
	if s.options.Progress != nil {
		s.options.Progress(s.progress)
	}
}

func newSalvageReport(f *salvage.Found, p *salvage.Plan) *SalvageReport {
	r := &SalvageReport{
		Files: p.Files, Directories: p.Directories, Payloads: int64(len(p.Payloads)),
		Transactions: int64(len(p.Transactions)),
		DamagedPages: int64(len(f.Lost)), DamagedChunks: int64(len(f.Damaged)),
		LogWhole: f.LogWhole, Doubt: f.Doubt,
		Incomplete: p.Incomplete, Unsure: p.Unsure, Orphans: p.Orphans,
	}
	for _, payload := range p.Payloads {
		r.Bytes += payload.Size
	}
	for _, lost := range p.LostFiles {
		r.LostFiles = append(r.LostFiles, LostFile(lost))
	}
	return r
}

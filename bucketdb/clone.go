package bucketdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/stardustdb/stardust"
	"github.com/stardustdb/stardust/internal/newfile"
	"github.com/stardustdb/stardust/internal/replica"
	"github.com/stardustdb/stardust/objectstore"
)

// Clone makes a new file of the database in a store: a replica with the same
// tree, ids, revisions and history, to which [Pull] brings what is pushed
// later. All of it is verified. The file is written under its name with
// ".clone" added, and gets its name once it is whole; a Clone that was
// interrupted continues with what is there.
//
// It returns StatusConflict when the path exists, and the errors of Pull and of
// stardust.Open.
//
// The report is never nil.
func Clone(ctx context.Context, store objectstore.Store, path string, options *PullOptions) (*Report, error) {
	p := &puller{options: options.normal(), report: new(Report)}
	return p.report, advise(p.clone(ctx, store, path), pullRights)
}

func (p *puller) clone(ctx context.Context, store objectstore.Store, path string) error {
	// Check that there is something to clone before making a file.
	if err := checkNew(path); err != nil {
		return err
	}
	if _, err := open(ctx, store); err != nil {
		return err
	}
	return p.makeFile(path, func(partial string) error {
		if err := p.checkPartial(ctx, partial); err != nil {
			return err
		}
		if err := p.run(ctx, store); err != nil {
			if errors.Is(err, ErrOtherDatabase) {
				err = fmt.Errorf("%s: %w: %w", partial, errForeign, err)
			}
			return err
		}
		var problems []error
		err := p.db.CheckTables(ctx, func(problem error) { problems = append(problems, problem) })
		if len(problems) > 0 {
			err = damaged("the log of %s makes tables that contradict themselves: %w", store, problems[0])
		}
		return err
	})
}

// makeFile makes a new file, or continues with an interrupted one, has fill
// fill it, and gives it its name.
func (p *puller) makeFile(path string, fill func(partial string) error) error {
	if err := checkNew(path); err != nil {
		return err
	}
	partial := path + ".clone"
	_, missing := os.Lstat(partial)
	db, err := stardust.Open(partial, nil)
	if err != nil {
		return err
	}
	p.db, p.cloning = rowsOfFile(db), true
	err = fill(partial)
	empty := p.local == (replica.Position{})
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err == nil {
		return rename(partial, path)
	}
	if empty && errors.Is(missing, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(partial))
	}
	return err
}

// errForeign says that another database lies where a clone would be made.
var errForeign = errors.New("it is not what an interrupted clone of this database left; move it away")

// checkPartial refuses a file that is another database.
func (p *puller) checkPartial(ctx context.Context, partial string) error {
	_, replicated, err := p.db.Origin(ctx)
	if err != nil {
		return err
	}
	at, err := p.db.Position(ctx)
	if err != nil {
		return err
	}
	if !replicated && at != (replica.Position{}) {
		return fmt.Errorf("%s: %w", partial, errForeign)
	}
	p.local = at
	return nil
}

func checkNew(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return &stardust.Error{Status: stardust.StatusConflict, Op: "clone", Message: path + " exists already; a clone makes a new file"}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return &stardust.Error{Status: stardust.StatusIO, Op: "clone", Err: err}
}

// rename gives the finished file its name, for good. It never replaces another.
func rename(from, to string) error {
	err := newfile.NameDurably(from, to)
	if errors.Is(err, fs.ErrExist) {
		return checkNew(to)
	}
	return err
}

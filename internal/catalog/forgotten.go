package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// ForgottenError is the error of a view of a revision that was forgotten.
type ForgottenError struct {
	Revision int64
	// Before and After are the kept revisions around it; Before is zero when none
	// before it is kept.
	Before, After int64
}

// Error implements error.
func (e *ForgottenError) Error() string {
	if e.Before == 0 {
		return fmt.Sprintf("revision %d was forgotten; the oldest that is kept is %d", e.Revision, e.After)
	}
	return fmt.Sprintf("revision %d was forgotten; the kept ones next to it are %d and %d", e.Revision, e.Before, e.After)
}

// gap is a range of revisions that were forgotten. Between two gaps, or beside
// one, lie revisions that are kept; ids of entities just after one of these show
// it, too, and belong to no gap.
type gap struct {
	first, last int64
	time        time.Time // of the first
}

func (g *gap) sum() *rowsum { return newRowsum('f').ints(g.first, g.last, g.time.UnixNano()) }

// readable returns a *ForgottenError when the view's revision was forgotten.
func (v *View) readable() error {
	if v.at == Live {
		return nil
	}
	g, found, err := v.gapAt(v.at)
	if err != nil || !found {
		return err
	}
	before, err := v.KeptBefore(g.first)
	if err != nil {
		return err
	}
	return &ForgottenError{Revision: v.at, Before: before, After: g.last + 1}
}

// Readable returns a *ForgottenError when a revision was forgotten.
func (v *View) Readable(revision int64) error {
	past := View{v.conn, revision}
	return past.readable()
}

// whole reports whether the row can be one, by its checksum.
func (g *gap) whole(crc int64) bool {
	return g.sum().sum() == crc && 0 < g.first && g.first <= g.last
}

const gapColumns = `first, last, time, crc`

func scanGap(s *sqlite3.Stmt, g *gap) error {
	*g = gap{s.ColumnInt64(0), s.ColumnInt64(1), time.Unix(0, s.ColumnInt64(2)).UTC()}
	if !g.whole(s.ColumnInt64(3)) {
		return corrupt("forgotten revisions from %d: row checksum differs", g.first)
	}
	return nil
}

// gapAt returns the gap in which a revision lies, and whether there is one.
func (v *View) gapAt(revision int64) (g gap, found bool, err error) {
	if there, err := v.hasTable(`forgotten`); err != nil || !there {
		return g, false, err
	}
	err = v.conn.query(`SELECT `+gapColumns+` FROM forgotten WHERE first <= ? ORDER BY first DESC LIMIT 1`,
		func(s *sqlite3.Stmt) (bool, error) {
			err := scanGap(s, &g)
			found = g.last >= revision
			return false, err
		}, revision)
	return g, found, err
}

// Gaps are ranges of forgotten revisions.
type Gaps []gap

// Gaps returns those that there are, in order.
func (v *View) Gaps() (all Gaps, err error) {
	if there, err := v.hasTable(`forgotten`); err != nil || !there {
		return nil, err
	}
	err = v.conn.query(`SELECT `+gapColumns+` FROM forgotten ORDER BY first`, func(s *sqlite3.Stmt) (bool, error) {
		var g gap
		err := scanGap(s, &g)
		all = append(all, g)
		return true, err
	})
	return all, err
}

// HasForgotten reports whether any revision was forgotten.
func (v *View) HasForgotten() (bool, error) {
	all, err := v.Gaps()
	return len(all) > 0, err
}

// KeptBefore returns the last revision before an id that can be read; zero, the
// empty tree, when there is none. What lies between two gaps can.
func (v *View) KeptBefore(id int64) (int64, error) {
	for {
		kept, err := v.conn.number(`SELECT id FROM log WHERE id < ? ORDER BY id DESC LIMIT 1`, id)
		if err != nil || kept == 0 {
			return 0, err
		}
		g, found, err := v.gapAt(kept)
		if err != nil || !found {
			return kept, err
		}
		id = g.first
	}
}

// KeptFrom returns the first revision, beginning with the given one, that can be
// read. A version of a node from its revision on is there as it was then.
func (v *View) KeptFrom(revision int64) (int64, error) {
	g, found, err := v.gapAt(revision)
	if found {
		revision = g.last + 1
	}
	return revision, err
}

// Revision is a transaction whose tree can be read.
type Revision struct {
	ID   int64
	Time time.Time
}

// Revisions returns the transactions whose trees can be read, the last one first.
func (v *View) Revisions() (list []Revision, err error) {
	all, err := v.Gaps()
	if err != nil {
		return nil, err
	}
	err = v.Times(func(id int64, at time.Time) bool {
		if !all.Has(id) {
			list = append(list, Revision{id, at})
		}
		return true
	})
	return list, err
}

// Has reports whether a revision was forgotten. The ranges are in order.
func (g Gaps) Has(revision int64) bool {
	i, exact := slices.BinarySearchFunc(g, revision, func(g gap, r int64) int { return cmp.Compare(g.first, r) })
	return exact || i > 0 && g[i-1].last >= revision
}

// After reports whether a revision later than an id was forgotten.
func (g Gaps) After(id int64) bool { return len(g) > 0 && g[len(g)-1].last > id }

// Fit returns the ranges in order, each reaching to a transaction that there is, of
// those with these ids, ascending. Ranges behind the last one are left out.
func (g Gaps) Fit(transactions []int64) Gaps {
	sorted := slices.SortedFunc(slices.Values(g), func(a, b gap) int { return cmp.Compare(a.first, b.first) })
	var fit Gaps
	for _, one := range sorted {
		i, _ := slices.BinarySearch(transactions, one.last+1)
		if i == len(transactions) {
			break
		}
		one.last = transactions[i] - 1
		if n := len(fit); n == 0 || fit[n-1].last < one.first {
			fit = append(fit, one)
		} else {
			fit[n-1].last = max(fit[n-1].last, one.last)
		}
	}
	return fit
}

// RevisionAt returns the last revision that was committed at a time or before, by
// the clock of those who wrote, and whether there is one. The error is a
// *ForgottenError when it is forgotten which that was.
func (v *View) RevisionAt(when time.Time) (revision int64, found bool, err error) {
	all, err := v.Gaps()
	if err != nil {
		return 0, false, err
	}
	err = v.Times(func(id int64, at time.Time) bool {
		// Of a gap behind this one, some transactions are not in the log any more.
		for n := len(all); n > 0 && all[n-1].first > id; n-- {
			if !all[n-1].time.After(when) {
				revision = all[n-1].first
				return false
			}
			all = all[:n-1]
		}
		if found = !at.After(when); found {
			revision = id
		}
		return !found
	})
	for n := len(all); err == nil && !found && revision == 0 && n > 0; n-- { // before the first that is left
		if !all[n-1].time.After(when) {
			revision = all[n-1].first
		}
	}
	if err != nil || revision == 0 {
		return 0, false, err
	}
	return revision, true, v.Readable(revision)
}

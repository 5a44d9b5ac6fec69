package stardust

import (
	"context"

	"github.com/stardustdb/stardust/internal/catalog"
)

// Snapshot reads the tree as it was at one revision, whatever is written
// later. Since history keeps every version it holds no resources: there is
// nothing to close, and it lasts as long as the database is open. When
// [DB.Forget] forgets its revision, its reads say so from then on, with
// StatusNotFound and CodeForgotten. It may be used concurrently.
type Snapshot struct {
	db       *DB
	revision int64
}

// Snapshot returns a view of the latest committed state.
//
// It returns StatusClosed when the database is closed, and
// StatusEvaluationFailed when stored metadata is damaged.
func (db *DB) Snapshot() (*Snapshot, error) {
	var last int64
	err := db.view(context.Background(), catalog.Live, false, func(v *catalog.View) (err error) {
		last, err = v.LastRevision()
		return err
	})
	if err != nil {
		return nil, withOp("snapshot", err)
	}
	return &Snapshot{db, last}, nil
}

// AsOf returns a view of the tree as the transaction with this id left it.
// Revision 0 is the empty tree. An id that a node took, rather than a
// transaction, shows the state before that node's commit.
//
// It returns StatusInvalidArgument when the revision is negative,
// StatusNotFound when it is later than the last commit, and with CodeForgotten when
// it was forgotten, and StatusClosed.
func (db *DB) AsOf(revision int64) (*Snapshot, error) {
	return db.snapshotFor("as_of", revision, func(v *catalog.View) (int64, error) { return revision, v.Readable(revision) })
}

// KeptFrom returns a view of the first revision, from the given one on, that was
// not forgotten. A version of a node, which may have begun with a forgotten
// revision, is there as it was from then on.
//
// Its errors are those of AsOf, but for CodeForgotten.
func (db *DB) KeptFrom(revision int64) (*Snapshot, error) {
	return db.snapshotFor("kept_from", revision, func(v *catalog.View) (int64, error) { return v.KeptFrom(revision) })
}

// KeptBefore returns a view of the last revision before the given one that was not
// forgotten: of what a transaction found, as far as that is known. Revision 0, the
// empty tree, is before all others.
//
// Its errors are those of AsOf, but for CodeForgotten.
func (db *DB) KeptBefore(revision int64) (*Snapshot, error) {
	return db.snapshotFor("kept_before", revision, func(v *catalog.View) (int64, error) { return v.KeptBefore(revision) })
}

// snapshotFor returns the snapshot that find chooses for a revision, which must be one
// of this database's.
func (db *DB) snapshotFor(op string, revision int64, find func(*catalog.View) (int64, error)) (*Snapshot, error) {
	if revision < 0 {
		return nil, withOp(op, invalid("revision: %d is negative", revision))
	}
	s := &Snapshot{db: db}
	err := db.view(context.Background(), catalog.Live, true, func(v *catalog.View) error {
		err := checkCommitted(v, revision)
		if err == nil {
			s.revision, err = find(v)
		}
		return err
	})
	if err != nil {
		return nil, withOp(op, err)
	}
	return s, nil
}

// checkCommitted refuses a revision that is none yet.
func checkCommitted(v *catalog.View, revision int64) error {
	last, err := v.LastRevision()
	if err == nil && (revision < 0 || revision > last) {
		err = notFound("revision %d: the last commit is %d", revision, last)
	}
	return err
}

// Revision returns the revision that the snapshot shows.
func (s *Snapshot) Revision() int64 {
	if s == nil {
		return 0
	}
	return s.revision
}

// Tree returns the reads of files, directories and payloads at the snapshot's
// revision. Its writes return StatusUnavailable.
func (s *Snapshot) Tree() Tree {
	if s == nil {
		return Tree{}
	}
	return Tree{db: s.db, at: s.revision}
}

// Objects is Tree with documents.
func (s *Snapshot) Objects() Objects { return Objects{s.Tree()} }

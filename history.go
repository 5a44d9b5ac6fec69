package stardust

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/stardustdb/stardust/internal/catalog"
	"github.com/stardustdb/stardust/internal/dust"
	"github.com/stardustdb/stardust/internal/tree"
)

// Version is a node as it was from its Revision on.
type Version struct {
	Record
	// Until is the revision that ended it, zero if none has.
	Until int64
	// Removed says that Until removed the node rather than changed it.
	Removed bool
}

// History returns an entity's versions, the oldest first, all in memory. Removed
// nodes have a history, too.
//
// It returns StatusInvalidArgument when the entity is not a user entity, and
// StatusNotFound when no node ever had it.
func (v Tree) History(entity int64) ([]Version, error) {
	const op = "objects.history"
	if err := v.enabled(); err != nil {
		return nil, withOp(op, err)
	}
	if err := checkEntity("entity", entity); err != nil {
		return nil, withOp(op, err)
	}
	var versions []Version
	err := v.read(func(view *catalog.View) error {
		err := view.History(entity, func(old *catalog.Version) bool {
			versions = append(versions, Version{newRecord(&old.Node), old.Until, old.Removed})
			return true
		})
		if err == nil && len(versions) == 0 {
			gaps, err := view.Gaps()
			if err == nil && gaps.After(entity) {
				err = &Error{Status: StatusNotFound, Code: CodeForgotten, Message: fmt.Sprintf("entity %d: no revision that is kept has it; others were forgotten", entity)}
			}
			return err
		}
		return err
	})
	if err == nil && len(versions) == 0 {
		err = notFound("entity %d: no file or directory ever had it", entity)
	}
	if err != nil {
		return nil, withOp(op, err)
	}
	return versions, nil
}

func (old *Version) value() dust.Value {
	members := recordValue(&old.Record).Members()
	if old.Until != 0 {
		members = append(members, dust.Member{Name: "until", Value: dust.NewInt(old.Until)})
	}
	if old.Removed {
		members = append(members, dust.Member{Name: "removed", Value: dust.NewBool(true)})
	}
	return dust.NewObject(members...)
}

// MarshalJSON returns the version as [Objects.History] prints it.
func (old Version) MarshalJSON() ([]byte, error) {
	return dust.AppendJSON(nil, old.value()), nil
}

// Transaction is what one commit wrote.
type Transaction struct {
	// ID is the revision of everything that the commit touched.
	ID int64
	// Time is what the clock said at the commit. Nothing is ordered by it.
	Time time.Time
	// Facts are in the order in which they were written.
	Facts []Fact
	// Forgotten says that the revision was forgotten: it can't be read, and of the
	// facts those are left that led to what is still there.
	Forgotten bool
}

// Fact says that from its transaction on an entity has a value of an attribute,
// or no longer has it.
type Fact struct {
	Entity    int64
	Attribute string
	// Value is an int64, a string, a Digest, or a *Document; nil when
	// Retracted.
	Value     any
	Retracted bool
}

// Transactions yields the transactions with ids from on, in order. It sees
// those that were committed when it began, with at most a few large ones in
// memory. It works without the objects plugin.
//
// An error ends it: of StatusEvaluationFailed when a stored record is damaged,
// after those before it, or of StatusClosed.
func (db *DB) Transactions(from int64) iter.Seq2[Transaction, error] {
	const op, page, pageFacts = "transactions", 64, 4096
	return func(yield func(Transaction, error) bool) {
		last, err := db.Snapshot()
		if err != nil {
			yield(Transaction{}, withOp(op, err))
			return
		}
		var gaps catalog.Gaps
		for next := max(from, 1); next <= last.revision; {
			var got []*catalog.Transaction
			facts := 0
			err := db.view(context.Background(), catalog.Live, true, func(v *catalog.View) (err error) {
				if gaps, err = v.Gaps(); err != nil {
					return err
				}
				return v.Transactions(next, func(t *catalog.Transaction) bool {
					if t.ID > last.revision {
						return false
					}
					got = append(got, t)
					facts += len(t.Facts)
					return len(got) < page && facts < pageFacts
				})
			})
			for _, t := range got {
				out, bad := newTransaction(t)
				out.Forgotten = gaps.Has(t.ID)
				if bad != nil {
					yield(Transaction{}, withOp(op, bad))
					return
				}
				if !yield(out, nil) {
					return
				}
				next = t.ID + 1
			}
			if err != nil {
				yield(Transaction{}, withOp(op, err))
				return
			}
			if len(got) == 0 {
				return
			}
		}
	}
}

func newTransaction(t *catalog.Transaction) (Transaction, error) {
	out := Transaction{ID: t.ID, Time: t.Time, Facts: make([]Fact, len(t.Facts))}
	for i := range t.Facts {
		f := &t.Facts[i]
		out.Facts[i] = Fact{Entity: f.Entity, Attribute: f.Attribute}
		switch f.Value.Kind {
		case catalog.Retracted:
			out.Facts[i].Retracted = true
		case catalog.Int:
			out.Facts[i].Value = f.Value.Int
		case catalog.Text:
			out.Facts[i].Value = string(f.Value.Bytes)
		case catalog.DigestValue:
			out.Facts[i].Value = f.Value.Digest
		case catalog.JSON:
			v, err := dust.Parse(f.Value.Bytes, dust.JSON)
			if err != nil {
				return out, damaged(err, "transaction %d: attribute %s of entity %d", t.ID, tree.Quote(f.Attribute), f.Entity)
			}
			out.Facts[i].Value = newDocument(v)
		}
	}
	return out, nil
}

package catalog

import (
	"maps"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// Forget does what Forgetting found, in the same transaction, and makes the tables
// ones of the newest version. What stays says what it would if only that had ever
// happened: a version reaches to the next one that stays, and a transaction's
// record has the facts that lead from one to the other.
func (t *Tx) Forget(f *Forgetting) error {
	if f.Empty() {
		return nil
	}
	for _, entity := range slices.Sorted(maps.Keys(f.affected)) {
		var err error
		if entity == Root {
			err = t.forgetNotes(f)
		} else {
			err = t.forgetVersions(f, entity)
		}
		if err != nil {
			return err
		}
	}
	if err := t.rewriteLog(f); err != nil {
		return err
	}
	if err := t.dropRows(f); err != nil {
		return err
	}
	return t.SetGaps(f.gaps)
}

// SetGaps says which revisions were forgotten, and makes the tables ones of the
// newest version.
func (t *Tx) SetGaps(gaps Gaps) error {
	if err := translate(t.conn.sq.Exec(schemaSince2)); err != nil {
		return err
	}
	if err := t.conn.exec(`DELETE FROM forgotten`); err != nil {
		return err
	}
	for i := range gaps {
		g := &gaps[i]
		err := t.conn.exec(`INSERT INTO forgotten(first, last, time, crc) VALUES(?, ?, ?, ?)`,
			g.first, g.last, g.time.UnixNano(), g.sum().sum())
		if err != nil {
			return err
		}
	}
	return nil
}

// dropRows removes the payloads and chunks that go.
func (t *Tx) dropRows(f *Forgetting) error {
	// The largest id first: it is noted, and the others need no note then.
	for _, p := range slices.Backward(f.Payloads) {
		if err := t.DropPayload(p.ID); err != nil {
			return err
		}
	}
	for _, c := range slices.Backward(f.Chunks) {
		if err := t.DropChunk(c.ID); err != nil {
			return err
		}
	}
	return nil
}

// forgetVersions removes the versions of a node that go, and lets those that stay
// reach to the next one.
func (t *Tx) forgetVersions(f *Forgetting, entity int64) error {
	var all []Version
	err := t.conn.query(`SELECT `+versionColumns+versionJoin+`WHERE n.entity = ? ORDER BY n.revision`,
		func(s *sqlite3.Stmt) (bool, error) {
			var old Version
			err := scanVersion(s, &old)
			all = append(all, old)
			return true, err
		}, entity)
	if err != nil || len(all) == 0 {
		return err
	}
	now, live, err := t.Node(entity)
	if err != nil {
		return err
	}
	end, removed := all[len(all)-1].Until, !live // where the next one that stays begins
	if live {
		end = now.Revision
	}
	var starts []int64 // of those that stay, descending
	if live {
		starts = append(starts, end)
	}
	for _, old := range slices.Backward(all) {
		if !f.keeps(old.Revision, old.Until) {
			err = t.conn.exec(`DELETE FROM version WHERE entity = ? AND revision = ?`, entity, old.Revision)
		} else {
			if old.Until != end || old.Removed != removed {
				err = t.moveEnd(&old, end, removed)
			}
			end, removed = old.Revision, false
			starts = append(starts, end)
		}
		if err != nil {
			return err
		}
	}
	slices.Reverse(starts)
	if !live && len(starts) > 0 {
		starts = append(starts, all[len(all)-1].Until)
	}
	return t.forgetAttributes(f, entity, starts)
}

// moveEnd lets a version reach to another revision.
func (t *Tx) moveEnd(v *Version, until int64, removed bool) error {
	v.Until, v.Removed = until, removed
	flag := int64(0)
	if removed {
		flag = 1
	}
	return t.conn.exec(`UPDATE version SET until = ?, removed = ?, crc = ? WHERE entity = ? AND revision = ?`,
		v.Until, flag, v.sum().sum(), v.Entity, v.Revision)
}

// attributes are an entity's, of all times, those of one name in order.
func (t *Tx) attributes(entity int64) (all []AttributeRow, err error) {
	err = t.conn.query(`SELECT `+attributeColumns+` FROM attribute WHERE entity = ? ORDER BY name, revision`,
		func(s *sqlite3.Stmt) (bool, error) {
			a, err := scanAttribute(s, entity)
			all = append(all, a)
			return true, err
		}, entity)
	return all, err
}

// forgetAttributes does to a node's attributes what was done to its versions: they
// begin and end with one that stays. Starts are where these begin, and where the
// last one ends if the node was removed.
func (t *Tx) forgetAttributes(f *Forgetting, entity int64, starts []int64) error {
	all, err := t.attributes(entity)
	if err != nil {
		return err
	}
	stays := func(revision int64) int64 {
		i, _ := slices.BinarySearch(starts, revision)
		if i == len(starts) {
			return revision
		}
		return starts[i]
	}
	for _, a := range slices.Backward(all) { // the last first, so that no two have one revision
		if !f.keeps(a.Revision, a.Until) {
			if err := t.dropAttribute(entity, &a); err != nil {
				return err
			}
			continue
		}
		moved := a
		moved.Revision = stays(a.Revision)
		if a.Until != forever {
			moved.Until = stays(a.Until)
		}
		if err := t.moveAttribute(entity, &a, &moved); err != nil {
			return err
		}
	}
	return nil
}

// forgetNotes removes what was said of the database as a whole and goes. What
// stays reaches to the next that stays, if nothing else was so in between.
func (t *Tx) forgetNotes(f *Forgetting) error {
	all, err := t.attributes(Root)
	if err != nil {
		return err
	}
	var next AttributeRow // that stays
	for _, a := range slices.Backward(all) {
		if !f.keeps(a.Revision, a.Until) {
			if err := t.dropAttribute(Root, &a); err != nil {
				return err
			}
			continue
		}
		moved := a
		if next.Name == a.Name && !f.keeps(a.Until, next.Revision) {
			moved.Until = next.Revision
		}
		if err := t.moveAttribute(Root, &a, &moved); err != nil {
			return err
		}
		next = moved
	}
	return nil
}

func (t *Tx) dropAttribute(entity int64, a *AttributeRow) error {
	return t.conn.exec(`DELETE FROM attribute WHERE entity = ? AND name = ? AND revision = ?`, entity, []byte(a.Name), a.Revision)
}

func (t *Tx) moveAttribute(entity int64, a, to *AttributeRow) error {
	if a.Revision == to.Revision && a.Until == to.Until {
		return nil
	}
	return t.conn.exec(`UPDATE attribute SET revision = ?, until = ?, crc = ? WHERE entity = ? AND name = ? AND revision = ?`,
		to.Revision, to.Until, attributeSum(entity, to.Revision, to.Until, a.Name, a.Value).sum(),
		entity, []byte(a.Name), a.Revision)
}

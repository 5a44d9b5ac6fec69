package catalog

import (
	"cmp"
	"errors"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// LostChild is a child of a directory that could not be read. Its name is empty
// when that is not known either; there may be several such children then.
type LostChild struct {
	Name string
	Err  error
}

// ChildrenAround returns the children of a directory like Children, except
// those on damaged pages, which it reports. It is for a directory where
// Children found damage: it reads all of it into memory, and other directories
// too. The error does not wrap ErrCorrupt.
func (v *View) ChildrenAround(parent int64) (children []Node, lost []LostChild, err error) {
	names := make(map[int64]map[string]bool)
	var blind error // an index did not come to its end
	collect := func(s *sqlite3.Stmt) (bool, error) {
		entity, name := s.ColumnInt64(0), string(s.ColumnRawBlob(1))
		if names[entity] == nil {
			names[entity] = make(map[string]bool)
		}
		names[entity][name] = true
		return true, nil
	}
	for _, query := range []string{
		`SELECT entity, name FROM node INDEXED BY node_child WHERE parent = ? ORDER BY name`,
		`SELECT entity, name FROM version INDEXED BY version_child WHERE parent = ? ORDER BY name`,
	} {
		err := v.conn.query(query, collect, parent)
		switch {
		case errors.Is(err, ErrCorrupt):
			blind = err
		case err != nil:
			return nil, nil, err
		}
	}
	if blind != nil {
		if err := v.searchTable(parent, names); err != nil {
			return nil, nil, err
		}
		lost = append(lost, LostChild{Err: blind})
	}
	for entity, said := range names {
		n, found, err := v.Node(entity)
		switch {
		case errors.Is(err, ErrCorrupt):
			for name := range said {
				lost = append(lost, LostChild{name, err})
			}
		case err != nil:
			return nil, nil, err
		case found && n.Parent == parent:
			children = append(children, n)
		}
	}
	slices.SortFunc(children, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(lost, func(a, b LostChild) int { return cmp.Compare(a.Name, b.Name) })
	return children, lost, nil
}

// searchTable finds children without an index: it reads the table of nodes from
// one page that is whole to the next.
func (v *View) searchTable(parent int64, names map[int64]map[string]bool) error {
	last, err := v.conn.number(`SELECT max(id) FROM log`)
	if errors.Is(err, ErrCorrupt) {
		return nil // it is not known where to end
	}
	next := int64(0)
	for err == nil && next <= last {
		err = v.conn.query(`SELECT entity, parent FROM node NOT INDEXED WHERE entity >= ? ORDER BY entity`,
			func(s *sqlite3.Stmt) (bool, error) {
				entity := s.ColumnInt64(0)
				next = entity + 1
				if s.ColumnInt64(1) == parent && names[entity] == nil {
					names[entity] = make(map[string]bool)
				}
				return true, nil
			}, next)
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrCorrupt) {
			next++ // what is there cannot be read
			err = nil
		}
	}
	return err
}

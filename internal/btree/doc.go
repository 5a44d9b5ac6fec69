// Package btree reads the records on single pages of a SQLite database, even
// when the pages that lead to them are damaged.
//
// A cell is one entry of a page; its record is a list of values. A leaf of a
// table has cells with row ids; pages of indexes, and of tables without row ids,
// have cells without.
//
// See "Database File Format" of SQLite's manual.
package btree

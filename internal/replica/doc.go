// Package replica lets the packages of this module carry a database to other
// places and back: row by row, under the same ids.
//
// Its nouns:
//
//   - A [DB] is an open database, seen as its rows.
//   - A [Position] says how far a database has come: the largest ids of its
//     transactions, chunks and payloads. Rows up to a position never change,
//     though some may be removed.
//   - [Rows] are what lies between two positions. Two databases that applied
//     the same rows are replicas: their tables are equal, except for the
//     chunks' places in the file.
//
// Errors are those of the root package.
package replica

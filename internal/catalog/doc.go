// Package catalog keeps the database's metadata in SQLite tables.
//
// Its nouns:
//
//   - A [Node] is a file or directory of the tree; a [Payload] is a published
//     byte sequence, made of [Chunk]s.
//   - A [Fact] says that an entity has, or no longer has, a value of an
//     attribute; a [Transaction] is an ordered list of facts with an id and a
//     time. Applying a transaction to the tables is one function, the same for
//     a local commit, a replay and a replica.
//   - A [View] reads the tables in one snapshot, live or as of a revision; a
//     [Tx] also writes them.
//
// Every row carries a checksum over its table and columns. A row that does not
// match, or contradicts another, is an error that wraps [ErrCorrupt].
package catalog

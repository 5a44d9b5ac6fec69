// Package stardust is an object database in one file: immutable payloads
// addressed by their SHA-256, and a tree of files and directories that names
// them. Payloads are cut into content-defined chunks that are stored once,
// every write is an atomic commit with a revision, and every earlier version
// stays readable.
//
// There are only a few nouns:
//
//   - A [DB] is an open database file.
//   - [Objects] are its operations on payloads and the tree. A payload is
//     written and read through a [PluginStream].
//   - A [Document] is what operations take and return: a record of a file or
//     directory, a manifest, a list. [Parse] makes one from DUST or JSON.
//   - A [Snapshot] reads the tree as it was at a revision; a [Transaction] is
//     what one commit wrote.
//   - An [Error] carries the [Status] that says why a call failed.
//
// A DB and its Objects may be used by many goroutines. One process writes a
// file at a time; others may read it meanwhile.
package stardust

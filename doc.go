// Package stardust is an object database in one file: immutable payloads
// addressed by their SHA-256, and a tree of files and directories that names
// them. Payloads are cut into content-defined chunks that are stored once,
// every write is an atomic commit with a revision, and every earlier version
// stays readable.
//
// There are only a few nouns:
//
//   - A [DB] is an open database file.
//   - A [Tree] is its operations on files, directories and payloads: a
//     [Record] describes a file or directory, an [Upload] writes a payload and
//     a [Reader] reads one.
//   - [Objects] are the same operations with a [Document] wherever a Tree has
//     Go values, as the objects spec writes them; a [PluginStream] is its upload
//     and its reader. [Parse] makes a document from DUST or JSON.
//   - A [Snapshot] reads the tree as it was at a revision; a [Transaction] is
//     what one commit wrote.
//   - An [Error] carries the [Status] that says why a call failed.
//
// The twelve operations have the spec's names in both forms: Get, Lookup,
// Children, Path, Files, Manifest, Create, Update, Move, Remove, Upload and
// Open. Go programs use the Tree, which adds what Go expects, such as Put, Walk
// and FS; documents are for requests and results that travel as text.
//
// A DB, its Tree and its Objects may be used by many goroutines. One process writes a
// file at a time; others may read it meanwhile.
package stardust

// Package batch is the bytes of a database in a bucket. docs/formats.md describes
// them.
//
// Its nouns:
//
//   - A [Genesis] is the object that makes a prefix a database, and names it.
//   - A [Batch] is one object of the log: rows that follow those of the batch
//     before, and where the bytes of their chunks lie.
//   - A [Pack] is an object of chunks' bytes, one behind the other.
//
// Decoders take what encoders write, byte for byte, and nothing else. They
// allocate in proportion to what they are given.
package batch

// Package batch encodes the objects of a database in a bucket.
// docs/formats-bucket.md describes them.
//
// Its nouns:
//
//   - A [Genesis] is the object that makes a prefix a database, and names it.
//   - A [Batch] is one object of the log: rows that follow those of the batch
//     before, and where the bytes of their chunks lie.
//   - A [Pack] is an object of chunks' bytes, one after the other.
//
// Decoders accept exactly what encoders write, byte for byte. They allocate in
// proportion to their input.
package batch

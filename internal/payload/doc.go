// Package payload stores payloads as chunks in the file of a database, and reads
// them back verified.
//
// Its nouns:
//
//   - A [Store] joins the catalog's rows, the heap's records and the memory that
//     uploads and reads may take.
//   - An [Upload] takes a payload's bytes, cuts them into chunks, and hashes
//     and stores these in parallel with its caller.
//   - A [Draft] is what an upload ends in: a payload whose chunks are stored but
//     that no row names. A commit publishes it, or it is abandoned.
//   - A [Reader] reads a published payload: in sequence with chunks read ahead,
//     or at any offset. It returns no byte that was not verified against a
//     digest.
//
// Errors wrap one of this package's sentinels, [heap.ErrCorrupt] or
// [catalog.ErrCorrupt], a context's error, or the operating system's.
package payload

// Package bucketdb keeps a database in a bucket, or any other object store, from
// which it can be had again, whole or as it was at an earlier revision.
//
// There are only a few nouns:
//
//   - A bucket's database is a log of batches that are written once and never
//     again, and the packs with the bytes of chunks that these name. It lies under
//     a prefix of a store, with an identity of its own.
//   - A replica is a file that applied the same batches: its tables say the same,
//     down to the ids. [Push] writes what the file has and the bucket lacks, [Pull]
//     the other way round, and [Clone] makes a new file.
//   - Two have parted when each has something that the other has not. Nothing is
//     merged: it is an error, [Diverged], that says where.
//
// One file at a time pushes to a bucket, as one process at a time writes a file. Who
// pushes beside another is told so, and nothing is lost or doubled: the store itself
// decides who was first, by writes that create an object and never replace one. A
// store that does not honour these is refused at the first push.
//
// Nothing that was begun needs an end: a Push, Pull or Clone that was interrupted
// goes on where it was when it is run again.
//
// The formats are in docs/formats.md, the guide is docs/bucket.md.
package bucketdb

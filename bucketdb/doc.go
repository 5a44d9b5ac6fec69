// Package bucketdb keeps a database in a bucket, or any other object store, and
// restores it from there, whole or as it was at an earlier revision.
//
// There are only a few nouns:
//
//   - A bucket's database is a log of batches, each written once and never
//     changed, and the packs with the bytes of the chunks that they name. It
//     lies under a prefix of a store and has an identity of its own.
//
//   - A replica is a file that applied the same batches: its tables are the
//     same, down to the ids. [Push] writes what the file has and the bucket
//     lacks, [Pull] does the reverse, and [Clone] makes a new file.
//
//   - Two have diverged when each has something that the other lacks. Nothing
//     is merged: the error [Diverged] says where.
//
//   - A live [DB] is a file whose commits the bucket decides about: each is there
//     before the write returns.
//
// One file at a time pushes to a bucket, as one process at a time writes a
// file. If two push at once, one gets an error, and nothing is lost or doubled:
// the store itself decides who was first, by create-only writes. A store that
// does not honor these is refused at the first push.
//
// Nothing needs cleaning up: a Push, Pull or Clone that was interrupted goes on
// where it was when it is run again.
//
// The formats are in docs/formats-bucket.md, the guide is docs/bucket.md.
package bucketdb

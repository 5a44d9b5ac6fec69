// Package heap keeps the bytes of chunks in the file of a database.
//
// Its nouns:
//
//   - A record is one chunk: a header that names it, checksums of its blocks of
//     64 KiB, and its bytes, or what is left of each block when it is compressed.
//   - A [Location] says where a record lies, how large its chunk is and how much
//     of it is stored. The catalog keeps it; the heap keeps no index of its own.
//   - Free ranges are those that no location names. They are known from
//     [Heap.SetLive] on, and reused.
//
// A record that was appended is durable after the next good [Heap.Sync], and only
// then may a catalog name it. What no catalog names is free space for the next
// one that opens the file.
//
// docs/formats.md describes every byte.
package heap

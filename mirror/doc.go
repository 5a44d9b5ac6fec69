// Package mirror keeps a complete local copy of the objects that matter in an
// object store, so that their reads are local and every write is durable
// remotely before it returns. It follows RFC 0034.
//
// There are only a few nouns:
//
//   - A [Mirror] is an objectstore.Store in front of another, the remote. It
//     decides how objects are kept locally.
//   - A [Policy] decides which objects are kept: it picks a route for every
//     call. [KeepAll], [Rules] and [LRU] are policies for general use.
//   - A [Handle] is what a policy works the mirror with: fetch, prefetch,
//     evict.
//   - A [Fetch] is a request to have objects local, with its place in line.
//   - [Open] opens a directory as a Mirror.
//
// All local I/O goes through the small file system interface of the
// subpackage vfs.
//
// The mirror supports write-once paths only: a policy must route to
// [ReadLocal], [ReadRefetch], [ReadThrough], [WriteMirror] and
// [MultipartMirror] only paths that are never overwritten with other bytes.
// The remote must be strongly consistent (RFC 0034, Remote Scan).
package mirror

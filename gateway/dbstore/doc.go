// Package dbstore shows a directory of a database as an [objectstore.Store], and a
// whole database as buckets over S3 ([NewHandler]).
//
// A bucket is a directory of the tree's root, and a key is a path within it: the
// object "a/b" of the bucket "data" is the file data/a/b, which every other view of
// the database shows under that name. So a tree decides what keys there are:
//
//   - "a" and "a/b" cannot both be objects: the second is ErrUnsupported.
//   - Keys with an empty segment ("a//b", "/a"), "." or ".." as a segment, or with
//     a segment of more than [stardust.MaxNameLength] bytes are ErrInvalidPath.
//   - "a/" is the directory a itself, while nothing is in it. A body for it
//     must be empty. Directories that writes made on their way are removed with
//     their last object; those that were put as "a/" stay.
//
// Every write is one commit, of content, attributes and tags together. Its ETag
// begins with the digest and ends in the revision, so that a condition is checked
// against the revision within the commit. Versions are revisions, and history has
// them: Get takes one, also after the object was replaced or deleted.
//
// Parts of a multipart upload are payloads that no file names; completing it
// reads them into one payload, which shares their stored chunks. Uploads in
// progress are known only to the Store and end with it.
package dbstore

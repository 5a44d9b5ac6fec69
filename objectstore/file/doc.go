// Package file is an object store in a directory.
//
// The object a/b/c is the file a/b/c below the directory, so that a tree that
// another program wrote is readable as it lies, and the other way round. What
// plain files cannot say lies in the reserved folder .stardust beside them,
// which is made by the first write and is no object: temporary files, uploads
// in progress, locks, and the attributes and tags of objects that have any.
//
// An object's ETag is made of its file's inode, modification time and size. It
// costs nothing to keep and tells every overwrite: writes install a new file,
// whose inode differs from the one it replaces and whose time, set to the
// nanosecond, is never used twice. The last digit of those nanoseconds tells
// whether attributes or tags are kept for this version.
//
// A path that is a directory of others cannot be an object as well: with "a/b"
// stored, writing "a" fails with ErrUnsupported, and the other way round. Paths
// must be proper ones (objectstore.ParsePath), with segments of at most 255
// bytes; others are refused with ErrInvalidPath. Symbolic links that lead out of
// the directory are never followed; files whose names are no paths, and files
// that are not regular, are not objects and are not listed.
package file

// Package storemount shows an object store as a file system of the operating
// system, by FUSE, read-only. There are only a few nouns:
//
//   - A Mount is a mounted store, until Unmount.
//   - A level is what lies directly beneath a prefix: names of objects and of
//     directories. A key "a/b" is the file b in the directory a.
//   - A directory and an object are nodes, as the kernel knows them.
//   - A reading is an object that a program has open, of one version.
//
// Not every key is a path. Left out of the tree, and named in the log, are: an
// object "a" where there is "a/b", since a directory has the name; keys with an
// empty segment or one that is "." or ".."; segments of more than 255 bytes. A key
// that ends in "/" makes a directory, also an empty one; what is in such an object
// isn't shown.
package storemount

//go:build linux

// Package mount shows a database as a file system of the operating system, by
// FUSE. There are only a few nouns:
//
//   - A Mount is a mounted database, until Unmount.
//   - A view is the tree that nodes are of: the latest state, which may be
//     written, or one at a revision, which may not.
//   - A directory, a regular file and a link are nodes, as the kernel knows them;
//     they have a view and an entity, and no state.
//   - A file is the state of a file that is open or was not committed yet. What
//     programs write goes to its draft, and to the database in one commit when
//     they close it or ask for fsync.
package mount

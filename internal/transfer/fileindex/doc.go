// Package fileindex keeps what an import saw of the files of a directory, so
// that the next one need not read those that did not change.
//
//   - An [Entry] is a file or directory as the file system described it, and the
//     node that it became.
//   - A [Binding] says which state of which database the entries are about. An
//     index of another is of no use.
//   - A [Reader] finds the entries of one directory at a time; a [Writer] makes
//     a new index, in which directories that did not change are copied.
//
// An index is a cache: what is missing or damaged in it is as if it had never
// been there, and only costs the reading of files.
package fileindex

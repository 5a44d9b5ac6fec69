// Package container owns the one file of a database.
//
// Its nouns:
//
//   - The superblock says whose file it is and how it is laid out. It is kept
//     twice, in two slots, each with a generation and a checksum.
//   - An extent is a range of the file that holds pages of SQLite's main
//     database. The superblock lists all extents.
//   - A page is 4096 bytes of SQLite's main database. Its last four bytes are a
//     CRC32C that covers the page's number and its content.
//   - The tail is the end of what is in use. Extents and the records of package
//     heap are taken from there.
//   - The holder is the process that has the file open for writing. It holds a
//     lock that the operating system drops when the process dies.
//
// A [Container] registers a SQLite VFS of its own. SQLite's locks, its shared
// memory and its write-ahead log are those of the driver's own VFS, beside the
// file and only while it is open; what this package replaces is where the pages
// of the main database lie.
//
// docs/formats.md describes every byte.
package container

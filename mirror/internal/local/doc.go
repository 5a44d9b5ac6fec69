// Package local is a mirror's directory of local copies: the files of RFC 0034,
// Filesystem layout, and what is known of them in memory. It knows neither the
// remote nor policies, and does not order operations: those who change the copy
// of a path hold the path's turn (package mirror).
//
// There are only a few nouns:
//
//   - A [Dir] is the directory. It opens and removes whole copies.
//   - The [Layout] gives every path a local name that no other path has. A path
//     claims its name while it has a copy, or gets one.
//   - The [Index] is the map of the copies in memory, an [Entry] each.
//   - A [Staged] copy is one in the making: a temporary file, which Install makes
//     the copy of its path, with its .meta file.
//   - [OpenFiles] keeps files open between reads; a [Handle] is one of them.
//   - A [Recovery] brings directory and map in line at startup, with the help of
//     the startup index, a file that is only a hint.
//   - A block is the part of an object that has a checksum.
package local

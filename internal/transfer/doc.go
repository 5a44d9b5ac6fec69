// Package transfer copies files and directories into the tree of a database and
// out of it.
//
//   - An import walks a file system, stores the content of its files in
//     parallel, and names what it stored in batches, each of which is one
//     commit.
//   - An export walks the tree and writes its files in parallel into a directory
//     of the operating system, each under a temporary name first.
//   - A [Report] says what either did, and a [Problem] what it left out.
//
// What it needs of the database it is given as a [Target] or a [Source]; it
// knows neither tables nor chunks.
package transfer

// Package watch tells which paths of a directory change, while they do.
//
//   - A tree is the watched directories. Each is watched before it is read, so
//     that nothing comes between.
//   - A [Batch] is what changed together: the next one begins when nothing has
//     changed for a while, or when the oldest change has waited long enough.
//   - Where the system lost sight of something, because a queue ran over or a
//     directory moved, everything is watched anew and the batch is everything.
//
// What becomes of a batch is the caller's.
package watch

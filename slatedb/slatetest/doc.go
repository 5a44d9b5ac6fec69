// Package slatetest makes SlateDB metadata for tests: [EncodeManifest] and
// [EncodeCompactions] write the objects that a SlateDB would write, and a
// [Process] is a SlateDB without data, which writes and compacts, takes
// checkpoints and collects garbage against any object store.
package slatetest

// Package tree holds the rules of the tree of files and directories, for those
// who read it and those who plan to write it: which names there are, what a
// directory is, how a path leads to the root, and which attributes an entity
// has. It reads a [catalog.View] and writes nothing.
//
// What the rules forbid is a [Refusal]; what contradicts them in the stored
// tables wraps [catalog.ErrCorrupt].
package tree

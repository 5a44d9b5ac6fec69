// Package staging keeps the bytes of uploads that take several requests, in files
// of a directory, until they are whole.
//
// There are two nouns. An [Area] is the directory. An [Upload] is what is known of
// one upload: where it is to go, how large it is, and how many of its bytes are safe
// on disk. Each has two files: ID.upload describes it, ID.part has its bytes. An area
// belongs to one process at a time; what it finds from an earlier one goes on.
package staging

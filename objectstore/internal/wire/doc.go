// Package wire holds what every driver of a remote store does with the bytes
// that go over a connection.
//
// There are two nouns: a [Body], which reads an answer to its exact length, and
// a [Source], which sends a caller's body and keeps the caller's own errors
// apart from those of the connection.
package wire

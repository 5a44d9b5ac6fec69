// Package client speaks to a Stardust server: the interface under /v1 that
// docs/serve.md describes, in Go values.
//
// There are three nouns. A [Client] is a server and who asks; its methods on
// paths are what a program wants. [Client.Objects] are the operations of the
// objects spec, by entity and digest. [Client.Changes] follows what others commit.
//
// Errors are [*stardust.Error], as they are of a database in this process, so that
// errors.Is(err, stardust.StatusNotFound) tells both alike.
package client

// Package client speaks to a Stardust server: the interface under /v1 that
// docs/serve.md describes, in Go values.
//
// There are three nouns. A [Client] is a server and who asks; its methods on
// paths are what most programs want. [Client.Objects] are the operations of the
// objects spec, by entity and digest. [Client.Changes] follows what others
// commit.
//
// Errors are [*stardust.Error], like those of a database in this process:
// errors.Is(err, stardust.StatusNotFound) works for both.
package client

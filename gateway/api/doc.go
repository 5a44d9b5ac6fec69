// Package api is an HTTP interface to a database, for programs in any language.
//
// There are three nouns. A call is one of the twelve operations of the objects
// spec: POST /v1/objects/NAME with the operation's members as JSON or, by
// content type, as DUST. A payload is bytes by their digest, /v1/payloads/DIGEST,
// and a file bytes by their path, /v1/files/PATH: both with ranges and
// conditions, and uploaded as plain bodies. Changes are what commits wrote,
// /v1/transactions, also as a stream of events.
//
// Everything that reads takes ?at=REVISION. Errors are documents with the
// spec's status, a code and a message, besides the members of RFC 9457. The
// OpenAPI 3.1 document at /v1/openapi.json is generated from the code.
//
// The handler authenticates nobody: whatever serves it does.
package api

// Package slatedb holds the end-to-end tests of the sidecar: a real SlateDB, in
// Node.js and unchanged, whose endpoint is a real sidecar process in front of a
// real S3 server. "npm ci" in this folder installs SlateDB; the tests do it when
// nobody has.
package slatedb

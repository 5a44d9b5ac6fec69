// Package slatedb holds the end-to-end tests of the sidecar: a real SlateDB, in
// Node.js and unchanged, whose endpoint is a real sidecar process in front of a
// real S3 server. "make deps" installs SlateDB; without it the tests are
// skipped.
package slatedb

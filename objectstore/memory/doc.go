// Package memory is an object store in the memory of the process, for tests,
// demonstrations and caches.
//
// There is one noun: a [Store]. It behaves as S3 does: ETags are MD5 sums in
// hexadecimal, those of multipart objects carry "-N" for their N parts, and
// every conditional write is atomic.
package memory

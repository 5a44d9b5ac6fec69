// Package auth authenticates requests and their bodies by AWS Signature Version 4.
//
//   - A [Verifier] holds the keys and finds out who sent a request: an [Identity], by
//     the Authorization header or by the query of a presigned URL.
//   - A [Query] holds a request's parameters as they are signed.
//   - A [Payload] is a request's body, taken out of the aws-chunked encoding and
//     verified while it is read: its length, and every digest, checksum and signature
//     that the request promised.
//
// Errors are [s3err.Failure]s. The package knows no store.
package auth

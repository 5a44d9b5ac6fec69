// Package s3err holds the errors of S3's protocol.
//
//   - A [Row] is a line of the one table: a code that programs read, the HTTP status
//     that belongs to it, and a message for people.
//   - A [Failure] is the error that a row makes, with what the message names, further
//     elements of the error document, and its cause.
//
// The package knows no store and no requests.
package s3err

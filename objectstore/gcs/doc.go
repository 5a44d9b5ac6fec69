// Package gcs is an object store in a bucket of Google Cloud Storage.
//
// It speaks the JSON API over net/http and takes its credentials from
// golang.org/x/oauth2/google; decision 0026 says why it does without Google's
// own client. An object's ETag and Version are its generation, which every write
// changes, so that each condition is one that the service itself checks.
//
// The service has no tags: those of a write are not kept. It has no parts
// either: those of a multipart upload are objects of their own below the
// reserved prefix [Reserved], which are joined when the upload completes. Lists
// leave that prefix out, and nothing else may be written there.
package gcs

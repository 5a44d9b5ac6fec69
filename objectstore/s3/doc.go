// Package s3 is an object store in a bucket of Amazon S3 or of a server that
// speaks its protocol.
//
// There is one noun: a [Store], made from [Options]. Credentials, region and
// endpoint come from where every AWS tool looks for them, unless the options
// say otherwise.
//
// Conditional writes need a server that honors If-None-Match and If-Match on
// PUT and on the completion of multipart uploads, as S3 does. A server that
// ignores them cannot be told from one that does not by its answers:
// objectstore.ProbeCreate finds out.
//
// Paths with a segment "." or ".." are refused with ErrInvalidPath: many servers
// resolve them, and the object would be another one, perhaps of another bucket.
//
// The Store repeats nothing by itself: wrap it in the retry decorator. Its
// errors say whether a repetition may help (objectstore.IsTransient).
package s3

// Package s3 serves any [objectstore.Store] as an S3 endpoint.
//
// There are only a few nouns:
//
//   - A [Handler] is an http.Handler that speaks S3 for one or several buckets.
//   - A bucket is the name under which clients see one Store.
//   - [Options] hold the keys, limits and hooks of a Handler.
//   - An [Observation] says how one request went, for metrics and logs.
//   - A [Server] runs a Handler on a listener with sane time-outs.
//
// Requests are authenticated with AWS Signature Version 4: in the
// Authorization header, in the query (presigned), and chunk by chunk for
// streamed bodies. Bodies stream in both directions. The bytes of a body reach
// the Store before the last of them is verified; a signature, digest, checksum
// or length that turns out wrong at the end is an error of the body, so the
// Store's write fails and nothing is stored.
//
// The guide docs/s3.md lists the operations and where they differ from S3.
package s3

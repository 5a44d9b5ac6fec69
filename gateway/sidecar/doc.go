// Package sidecar gives a mirror to programs in any language: it puts the mirror
// behind an S3 endpoint.
//
// There are only a few nouns:
//
//   - A [Sidecar] is a mirror, the S3 endpoint in front of it, and the pages that
//     tell how it is doing. It is an http.Handler.
//   - Its database is the SlateDB whose SSTs it keeps, when its policy is one
//     for SlateDB.
//   - It is ready once it is warm: when everything that its policy keeps is local.
//
// The pages are /healthz, /readyz, /metrics, /status and /status.json. No bucket
// may have one of these names.
package sidecar

// Package storeurl opens object stores by URL.
//
// There are two nouns: a [Registry], which knows schemes, and the [Options] that
// what it opens starts from. [Default] knows these:
//
//	s3://bucket/prefix?endpoint=http://host:9000&region=eu-1&path-style=true&profile=name&anonymous=true
//	file:///directory?create=false&sync=false
//	file:relative/directory
//	memory:///prefix
//
// Credentials are no part of URLs, which end up in logs and histories: they come
// from the environment or the options.
package storeurl

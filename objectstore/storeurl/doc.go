// Package storeurl opens object stores by URL.
//
// There are three nouns: a [Registry], which knows schemes; an [Opener], which
// opens the stores of one scheme; and the [Params] of a URL. This package knows
// no driver, so that a program links only those that it registers: each
// driver's package has an Opener.
//
//	registry := &storeurl.Registry{}
//	registry.Register("file", file.Opener(file.Options{}))
//	registry.Register("s3", s3.Opener(s3.Options{}))
//
//	s3://bucket/prefix?endpoint=http://host:9000&region=eu-1&path-style=true&profile=name&anonymous=true
//	gs://bucket/prefix?endpoint=http://host:4443&anonymous=true
//	az://container/prefix?account=name&endpoint=http://host:10000/account&anonymous=true
//	file:///directory?create=false&sync=false
//	file:relative/directory
//	memory:///prefix
//
// Credentials are not part of URLs, which end up in logs and histories: they
// come from the environment or the options.
package storeurl

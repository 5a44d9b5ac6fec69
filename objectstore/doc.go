// Package objectstore is the interface to an object store such as a bucket.
//
// There are only a few nouns:
//
//   - A [Store] keeps objects: it gets, puts, lists, copies and deletes them.
//   - A [Path] is the validated name of an object.
//   - A [Body] is what is written, a [GetResult] what is read.
//   - An [Upload] is a multipart upload in progress.
//   - An [Error] says which operation on which path failed and why.
//
// Drivers live in subpackages (memory, file, s3), one each; storeurl opens them
// by URL. Decorators wrap any Store, are Stores themselves and compose: prefix,
// retry, limit, throttle, metrics, logging. Package storetest tests what every
// Store must do.
//
// The interface follows the ObjectStore trait of the Rust crate object_store,
// which the mirror's specification is written against.
package objectstore

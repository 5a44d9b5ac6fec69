// Package azure is an object store in a container of Azure Blob Storage, by
// Microsoft's own client.
//
// An object is a block blob, its ETag the service's. The parts of a multipart
// upload are blocks that the service keeps with the blob until they are
// committed, a week at most. It keeps one set of them per blob: when another
// write of the same object comes first, it discards them, and the upload
// completes with ErrInvalidPart or the error of its condition. Uploads have no
// names, so the store is no objectstore.MultipartStore; package
// objectstore/uploads makes one of it.
//
// The service takes user metadata keys of letters, digits and underscores; others
// are stored escaped, "-" as "_x2d".
package azure

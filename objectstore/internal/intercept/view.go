package intercept

import "github.com/stardustdb/stardust/objectstore"

// Full is a store with every optional interface.
type Full interface {
	objectstore.MultipartStore
	objectstore.BulkDeleter
	objectstore.TagReader
}

var _ Full = (*Store)(nil)

// View returns full with only those optional interfaces that inner has too.
func View(full Full, inner objectstore.Store) objectstore.Store {
	_, multipart := inner.(objectstore.MultipartStore)
	_, bulk := inner.(objectstore.BulkDeleter)
	_, tags := inner.(objectstore.TagReader)
	switch {
	case multipart && bulk && tags:
		return full
	case multipart && bulk:
		return struct {
			objectstore.MultipartStore
			objectstore.BulkDeleter
		}{full, full}
	case multipart && tags:
		return struct {
			objectstore.MultipartStore
			objectstore.TagReader
		}{full, full}
	case bulk && tags:
		return struct {
			objectstore.Store
			objectstore.BulkDeleter
			objectstore.TagReader
		}{full, full, full}
	case multipart:
		return struct{ objectstore.MultipartStore }{full}
	case bulk:
		return struct {
			objectstore.Store
			objectstore.BulkDeleter
		}{full, full}
	case tags:
		return struct {
			objectstore.Store
			objectstore.TagReader
		}{full, full}
	default:
		return struct{ objectstore.Store }{full}
	}
}
